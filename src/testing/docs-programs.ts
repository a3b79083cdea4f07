/** Programs in the documentation: compiled as a user's compiler would, and run with what they would import. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url));

export function programsIn(markdown: string): string[] {
  return [...markdown.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, text = '']) => text);
}

/** What the compiler says against them, with our settings, which are strict. */
export function compilerErrors(programs: readonly string[]): string[] {
  const files = new Map(programs.map((text, n) => [`${root}src/program-of-the-docs-${n}.ts`, text]));
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);
  const settings = { ...options, noEmit: true, paths: { posthorn: [`${root}src/index.ts`] } };
  const host = ts.createCompilerHost(settings);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.getSourceFile = (path, ...rest) => {
    const text = files.get(path);
    return text === undefined ? getSourceFile(path, ...rest) : ts.createSourceFile(path, text, ts.ScriptTarget.ES2023);
  };
  const program = ts.createProgram([...files.keys()], settings, host);
  const found = [...files.keys()].flatMap((path) => {
    const file = program.getSourceFile(path);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  });
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

/** `given` stands for what it imports and for globals, by name. */
export async function runProgram(program: string, given: Readonly<Record<string, unknown>>): Promise<void> {
  const { outputText } = ts.transpileModule(program.replace(/^import .*$/gm, ''), {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
  });
  const run = new Function(...Object.keys(given), `return (async () => {${outputText}})()`);
  await run(...Object.values(given));
}
