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
