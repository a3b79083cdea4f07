/** Every command and every program in the README is run here, as written. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SpawnedPosthorn } from './cli/spawned-posthorn.ts';
import { freePort } from './crash/server-process.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = [...readme.matchAll(/```(sh|ts)\n([\s\S]*?)```/g)].map(([, language, text = '']) => ({
  language,
  text,
}));

const programs = blocks.filter(({ language }) => language === 'ts').map(({ text }) => text);

const posthorn = `'${process.execPath}' '${join(root, 'dist/cli/main.js')}'`;

let folder: string;
let elsewhere: string;
let server: SpawnedPosthorn;
let url: string;
let receiverPort: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-readme-'));
  elsewhere = join(folder, 'elsewhere');
  mkdirSync(elsewhere);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  receiverPort = await freePort();
  server = new SpawnedPosthorn(['dev', '--port', '0'], { cwd: folder });
  await server.printed(/Ctrl-C stops/);
  [, url = ''] = await server.printed(/API +(http:\S+)\/api\/v1/);
}, 60_000);

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** The lines of a block as written, but for the ports. Gives what each curl answered. */
async function runShell(text: string, env: Record<string, string | undefined> = {}): Promise<unknown[]> {
  const stdout = await printedBy(text, env);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

async function printedBy(text: string, env: Record<string, string | undefined>): Promise<string> {
  const script = text
    .replaceAll('npx posthorn', posthorn)
    .replaceAll('http://127.0.0.1:8420', url)
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${receiverPort}`)
    .replaceAll(/^curl /gm, "curl --silent --show-error --fail-with-body --write-out '\\n' ");
  const where = { PATH: process.env.PATH, POSTHORN_URL: url, ...env };
  const { stdout } = await run('bash', ['-e', '-c', script], { cwd: folder, env: where });
  return stdout;
}

/** A program as written, but for the port and where the package is; it is stopped after `during`. */
async function runProgram(text: string, env: Record<string, string>, during: (printed: Printed) => Promise<void>) {
  const { outputText } = transpileModule(text, {
    compilerOptions: { module: ModuleKind.ESNext, target: ScriptTarget.ES2023 },
  });
  const path = join(elsewhere, `program-${programs.indexOf(text)}.mjs`);
  const ported = outputText.replace('127.0.0.1:3000', `127.0.0.1:${receiverPort}`).replace('(3000', `(${receiverPort}`);
  writeFileSync(path, ported.replace("'posthorn'", JSON.stringify(join(root, 'dist/index.js'))));
  const child = spawn(process.execPath, [path], { cwd: elsewhere, env: { PATH: process.env.PATH, ...env } });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk));
  const ended = once(child, 'exit');
  try {
    await during(() => printed);
  } finally {
    child.kill('SIGINT');
  }
  const [code] = await ended;
  return code as number | null;
}
type Printed = () => string;

describe('the README', { timeout: 120_000 }, () => {
  it('begins with the two commands, which package.json has', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
    expect(blocks[0]?.text).toMatch(/^npm start .*\nnpm test .*\n$/);
    expect(scripts).toMatchObject({ start: expect.any(String), test: expect.any(String), bench: expect.any(String) });
  });

  it('has curl lines that work as they stand, one after the other, and a receiver that verifies what they send', async () => {
    const shell = blocks.filter(({ text }) => /^(curl|export) /m.test(text)).map(({ text }) => text);
    const [first = '', create = '', secret = '', failed = ''] = shell;
    expect(shell).toHaveLength(4);
    // Who chose another port changes one line.
    expect(readme.match(/http:\/\/127\.0\.0\.1:8420/g)).toHaveLength(2);
    expect(await runShell(first)).toMatchObject([{ id: expect.stringMatching(/^msg_/) }]);
    const token = readFileSync(join(folder, 'posthorn.db-dev-token'), 'utf8').trim();
    const env = { POSTHORN_ADMIN_TOKEN: token };
    expect(await runShell(create, env)).toMatchObject([{ id: expect.stringMatching(/^ep_/) }]);
    const [{ key = '' } = {}] = (await runShell(secret, env)) as { key?: string }[];
    await runProgram(programs[0] ?? '', { WEBHOOK_SECRET: key }, async (printed) => {
      await expect.poll(() => answers(receiverPort), { timeout: 20_000 }).toBe(401);
      await runShell(first);
      await expect.poll(printed, { timeout: 20_000 }).toContain("{ type: 'invoice.paid', data: { amount: 100 } }");
    });
    // With a secret that is not the endpoint's, the receiver refuses, and a dead letter is left.
    await runProgram(programs[0] ?? '', { WEBHOOK_SECRET: 'whsec_c29tZW9uZSBlbHNlJ3Mgc2VjcmV0' }, async () => {
      await expect.poll(() => answers(receiverPort), { timeout: 20_000 }).toBe(401);
      await runShell(first);
      const [list = ''] = failed.split('\n');
      await expect.poll(() => printedBy(list, env), { timeout: 20_000 }).toMatch(/^dlv_\w+ .* dev +mine http/m);
    });
    expect(await printedBy(failed, env)).toMatch(/^dlv_.*\n\{"id":"ep_.*\n+1 is being sent again\.\n$/m);
  });

  it('has commands of the program that work', async () => {
    const commands = blocks
      .filter(({ text }) => text.startsWith('npx posthorn policy'))
      .flatMap(({ text }) => text.trim().split('\n'));
    expect(commands.length).toBeGreaterThan(0);
    for (const command of commands) {
      const [, , ...args] = command.split(' ');
      const { stdout } = await run(process.execPath, [join(root, 'dist/cli/main.js'), ...args], {
        cwd: elsewhere,
        env: { PATH: process.env.PATH, POSTHORN_PORT: '0' },
      });
      expect(stdout.length).toBeGreaterThan(50);
    }
  });

  it('PAY-01 has commands that take a webhook of Stripe in, and show it', async () => {
    const [block = ''] = blocks.filter(({ text }) => text.startsWith('npx posthorn sources')).map(({ text }) => text);
    const token = readFileSync(join(folder, 'posthorn.db-dev-token'), 'utf8').trim();
    const env = { PATH: process.env.PATH, POSTHORN_URL: url, POSTHORN_ADMIN_TOKEN: token };
    const script = block.replaceAll('npx posthorn', posthorn);
    const { stdout } = await run('bash', ['-e', '-c', script], { cwd: elsewhere, env });
    expect(stdout).toMatch(/\/in\/stripe\n/);
    expect(stdout).toMatch(/ 200 .*"received":true/);
    expect(stdout).toMatch(/^msg_\w+ .*invoice\.paid/m);
  });

  it('has a program that publishes, tells what became of it, and ends', async () => {
    const receiver = createServer((_, response) => response.writeHead(204).end());
    await new Promise<void>((done) => void receiver.listen(receiverPort, '127.0.0.1', done));
    try {
      const code = await runProgram(programs[1] ?? '', {}, (printed) =>
        expect.poll(printed, { timeout: 20_000 }).toContain(`:${receiverPort}/webhooks HTTP 204: delivered`),
      );
      expect(code).toBe(0);
    } finally {
      receiver.close();
    }
  });

  it('and docs/README.md link every page of the documentation, and none that is not there', () => {
    const index = readFileSync(join(root, 'docs/README.md'), 'utf8');
    const pages = readdirSync(join(root, 'docs')).filter((name) => name !== 'README.md');
    const linked = [...index.matchAll(/^\| \[[^\]]+\]\(([^)]+)\)/gm)].map(([, page]) => page);
    expect(new Set(linked)).toEqual(new Set(pages));
    for (const [, path = ''] of readme.matchAll(/\]\((?!https?:)([^)#]+)/g)) {
      expect([path, existsSync(join(root, path))]).toEqual([path, true]);
    }
  });

  it('is short', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(135);
  });
});

function answers(port: number): Promise<number> {
  return fetch(`http://127.0.0.1:${port}`, { method: 'POST' }).then(
    ({ status }) => status,
    () => 0,
  );
}
