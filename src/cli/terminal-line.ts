const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** One line of what came over the network: it cannot move the cursor or forge a second line. */
export function printable(text: string): string {
  return text.replace(CONTROL_CHARACTERS, ' ');
}

/** One line with the time before it. What came over the network cannot move the cursor or forge a second line. */
export function terminalLine(at: number, ...parts: readonly string[]): string {
  return `${printable([timeOfDay(at), ...parts].join('  '))}\n`;
}

export function timeOfDay(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}
