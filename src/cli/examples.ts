/** The examples that end a help text: a command each, and what it is good for. */
export function examples(...lines: readonly (readonly [command: string, purpose: string])[]): string {
  return `\nExamples:\n${lines.map(([command, purpose]) => `  $ ${command}\n      ${purpose}`).join('\n')}\n`;
}
