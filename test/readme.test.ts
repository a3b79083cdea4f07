/** Every command and every program in the README is run here, as written. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, freePort, type ServerProcess, startServer } from './crash/server-process.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = [...readme.matchAll(/```(sh|ts)\n([\s\S]*?)```/g)].map(([, language, text = '']) => ({
  language,
  text,
}));

let folder: string;
let server: ServerProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-readme-'));
  server = await startServer({ command: 'dev', store: join(folder, 'dev.db'), port: await freePort() });
});

afterAll(async () => {
  await server?.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

describe('the README', () => {
  it('begins with the two commands, which package.json has', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
    expect(blocks[0]?.text).toMatch(/^npm start .*\nnpm test .*\n$/);
    expect(scripts).toMatchObject({ start: expect.any(String), test: expect.any(String), bench: expect.any(String) });
  });

  it('has curl lines that work as they stand', async () => {
    const lines = blocks.filter(({ text }) => text.startsWith('curl')).map(({ text }) => text);
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      const script = line
        .replaceAll('http://127.0.0.1:8420', server.url)
        .replace('curl ', 'curl --silent --fail-with-body ');
      const { stdout } = await run('bash', ['-c', script], {
        env: { ...process.env, POSTHORN_ADMIN_TOKEN: ADMIN_TOKEN },
      });
      expect(JSON.parse(stdout)).toMatchObject({ id: expect.stringMatching(/^(msg|ep)_/) });
    }
  });

  it('has commands of the program that work', async () => {
    const commands = blocks
      .filter(({ text }) => text.startsWith('npx posthorn'))
      .flatMap(({ text }) => text.trim().split('\n'));
    expect(commands.length).toBeGreaterThan(0);
    for (const command of commands) {
      const [, , ...args] = command.split(' ');
      const { stdout } = await run(process.execPath, [join(root, 'dist/cli/main.js'), ...args], {
        cwd: folder,
        env: { PATH: process.env.PATH },
      });
      expect(stdout.length).toBeGreaterThan(50);
    }
  });

  it('has a program that runs', async () => {
    const program = blocks.find(({ language }) => language === 'ts')?.text ?? '';
    const { outputText } = transpileModule(program, {
      compilerOptions: { module: ModuleKind.ESNext, target: ScriptTarget.ES2023 },
    });
    const path = join(folder, 'program.mjs');
    writeFileSync(path, outputText.replace("'posthorn'", JSON.stringify(join(root, 'dist/index.js'))));
    await expect(run(process.execPath, [path], { cwd: folder })).resolves.toMatchObject({ stderr: '' });
  });
});
