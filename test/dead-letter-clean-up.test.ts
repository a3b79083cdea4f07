/** The clean-up as the built library runs it: by setting, at its start, with the archive in a folder. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { createPosthorn as Create } from '../src/index.ts';

const DAY_MS = 86_400_000;
const built = new URL('../dist/index.js', import.meta.url).href;

it('SUB-13 dead letters are kept until POSTHORN_DEAD_LETTER_KEEP is over, then archived and deleted', async () => {
  const { createPosthorn } = (await import(built)) as { createPosthorn: typeof Create };
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-clean-up-'));
  const open = (laterMs: number) =>
    createPosthorn({
      store: `sqlite:${join(folder, 'posthorn.db')}`,
      allowNetworks: ['127.0.0.0/8'],
      logger: false,
      deadLetterKeep: '7d',
      deadLetterArchive: join(folder, 'archive'),
      clock: {
        now: () => Date.now() + laterMs,
        after(delayMs, run) {
          const handle = setTimeout(run, delayMs);
          return { cancel: () => clearTimeout(handle) };
        },
      },
    });
  try {
    const posthorn = await open(0);
    const { record } = await posthorn.applications.create({ name: 'Acme', uid: 'acme' });
    // Nobody listens there, and the policy does not try again.
    const policy = { schedule: { kind: 'explicit' as const, delaysMs: [] } };
    await posthorn.endpoints.create(record.id, { url: 'http://127.0.0.1:9/', policy });
    await posthorn.publish({ application: 'acme', eventType: 'invoice.paid', payload: { amount: 100 } });
    await expect.poll(async () => (await posthorn.deadLetters.list()).data.length, { timeout: 10_000 }).toBe(1);
    await posthorn.close();

    const young = await open(6 * DAY_MS);
    expect((await young.deadLetters.list()).data).toHaveLength(1);
    await young.close();
    expect(existsSync(join(folder, 'archive'))).toBe(false);

    const old = await open(8 * DAY_MS);
    await expect.poll(async () => (await old.deadLetters.list()).data, { timeout: 10_000 }).toEqual([]);
    const [file = ''] = readdirSync(join(folder, 'archive'));
    const lines = readFileSync(join(folder, 'archive', file), 'utf8')
      .trim()
      .split('\n');
    expect(await old.deadLetters.restore(lines)).toMatchObject({ restored: 1 });
    await old.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
