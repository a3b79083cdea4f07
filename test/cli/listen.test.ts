/** The built program on a real terminal: util-linux `script` gives it one. */
import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startReceiver } from '../../src/testing/scripted-receiver.ts';
import { freePort } from '../crash/server-process.ts';
import { SpawnedPosthorn } from './spawned-posthorn.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const hasScript = spawnSync('script', ['--version']).status === 0;
const SECRET = 'whsec_test';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-listen-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const start = (port: string) => new SpawnedPosthorn(['dev', '--port', port], { cwd: folder });

async function prepared(posthorn: SpawnedPosthorn) {
  await posthorn.printed(/Ctrl-C stops/);
  const env = {
    POSTHORN_URL: (await posthorn.printed(/API +(http:\S+)\/api\/v1/))[1] ?? '',
    POSTHORN_ADMIN_TOKEN: (await posthorn.printed(/Token +(\S+)/))[1] ?? '',
    POSTHORN_SOURCE_SECRET: SECRET,
  };
  const run = async (...words: string[]) => {
    await using ran = new SpawnedPosthorn(words, { cwd: folder, env });
    expect([await ran.ended, ran.err]).toEqual([{ code: 0, signal: null }, '']);
  };
  return { env, run };
}

// Each test starts processes, which takes long on a busy machine.
describe('posthorn listen', { timeout: 120_000 }, () => {
  it.runIf(hasScript)('reads keys from a terminal, and leaves it as it was', async () => {
    await using posthorn = start('0');
    const { env, run } = await prepared(posthorn);
    await run('sources', 'create', 'stripe');
    const app = await startReceiver();
    const command = `'${process.execPath}' '${MAIN}' listen --source stripe --forward ${app.url}; echo "ended $?"; stty -a`;
    const child: ChildProcessByStdio<Writable, Readable, null> = spawn('script', ['-qfec', command, '/dev/null'], {
      env: { PATH: process.env.PATH, TERM: 'xterm', ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const exited = once(child, 'exit');
    let out = '';
    child.stdout.on('data', (text) => {
      out += text;
    });
    const printed = (pattern: RegExp) => expect.poll(() => out, { timeout: 30_000 }).toMatch(pattern);
    await printed(/q ends/);
    await run('trigger', 'stripe', 'invoice.paid');
    await printed(/#1 {2}invoice\.paid .* 200 /);
    child.stdin.write('r');
    await printed(/#1 again .* 200 /);
    expect(app.arrivals).toHaveLength(2);
    child.stdin.write('1\r');
    await app.arrived(3);
    child.stdin.write('q');
    await printed(/ended 0[\s\S]* icanon/);
    expect(out).not.toContain('-icanon');
    child.stdin.end();
    await exited;
    await app.close();
  });

  it('without a terminal it waits for a server that restarts, misses nothing, and ends with a signal', async () => {
    const port = String(await freePort());
    await using first = start(port);
    const { env, run } = await prepared(first);
    await run('sources', 'create', 'stripe');
    await using listen = new SpawnedPosthorn(['listen', '--source', 'stripe'], { cwd: folder, env });
    await listen.printed(/Ctrl-C ends/);
    await run('trigger', 'stripe', 'invoice.paid');
    await listen.printed(/#1 /);
    first.kill('SIGTERM');
    await first.ended;
    await expect.poll(() => listen.err, { timeout: 30_000 }).toContain('waiting.');
    await using second = start(port);
    await second.printed(/Ctrl-C stops/);
    await run('trigger', 'stripe', 'invoice.paid');
    await listen.printed(/#2 /);
    expect(listen.err).toContain('The server answers again.');
    listen.kill('SIGTERM');
    expect(await listen.ended).toEqual({ code: 0, signal: null });
  });
});
