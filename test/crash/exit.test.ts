import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const PROGRAM = new URL('./exit-process.mjs', import.meta.url).pathname;

it('ALL-01 a handler that ends the process is an interrupted attempt: the event is handled after the restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-exit-'));
  const start = (exit: string): ChildProcess =>
    fork(PROGRAM, { env: { ...process.env, STORE: `sqlite:${join(folder, 'posthorn.db')}`, EXIT: exit } });
  const first = start('yes');
  expect((await once(first, 'exit'))[0]).toBe(3);
  const second = start('no');
  const [seen] = await once(second, 'message');
  expect(seen).toMatchObject({ eventId: expect.stringContaining('sha256_') });
  second.send('attempts');
  expect((await once(second, 'message'))[0]).toEqual([
    ['interrupted', 'retry'],
    ['none', 'delivered'],
  ]);
  await once(second, 'exit');
  rmSync(folder, { recursive: true });
}, 60_000);
