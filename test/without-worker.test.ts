import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { createPosthorn as Create } from '../src/index.ts';

const built = new URL('../dist/index.js', import.meta.url).href;

it('SUB-10 on SQLite too, a program without a worker handles what is due when its cron asks', async () => {
  const { createPosthorn } = (await import(built)) as { createPosthorn: typeof Create };
  const posthorn = await createPosthorn({ store: 'sqlite::memory:', worker: false, logger: false });
  try {
    const seen: string[] = [];
    const source = posthorn.source('none', {}).on('*', (_, { eventId }) => void seen.push(eventId));
    for (const id of [1, 2]) {
      const body = JSON.stringify({ type: 'order.paid', id });
      expect((await source.receive(new Request('http://localhost/', { method: 'POST', body }))).status).toBe(200);
    }
    expect(seen).toEqual([]);
    expect(await posthorn.processPendingRetries(1)).toMatchObject({ delivered: 1 });
    expect(await posthorn.processPendingRetries()).toMatchObject({ delivered: 1 });
    expect(new Set(seen).size).toBe(2);
  } finally {
    await posthorn.close(0);
  }
});

it('SUB-10 a program that a cron starts declares its sources and asks at once, and handles what an earlier one received', async () => {
  const { createPosthorn } = (await import(built)) as { createPosthorn: typeof Create };
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-'));
  const open = () => createPosthorn({ store: `sqlite:${join(folder, 'a.db')}`, worker: false, logger: false });
  try {
    const receiving = await open();
    const source = receiving.source('none', {}).on('*', () => {});
    await source.receive(new Request('http://localhost/', { method: 'POST', body: '{"type":"order.paid","id":1}' }));
    await receiving.close(0);
    const cron = await open();
    cron.source('none', {}).on('*', () => {});
    expect(await cron.processPendingRetries()).toEqual({ claimed: 1, delivered: 1, retried: 0, failed: 0 });
    for (const limit of [0, -1, 1.5, '10', { limit: 10 }]) {
      await expect(cron.processPendingRetries(limit as number)).rejects.toThrow(
        'limit: must be a whole number from 1 on',
      );
    }
    await cron.close(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
