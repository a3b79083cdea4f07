/** `posthorn migrate`, killed again and again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Scene } from '../../src/store/conformance/scene.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { type Filled, fillStore, showStore } from '../../src/testing/full-store.ts';
import { createTestSchema, type TestSchema } from '../../src/testing/postgres-schema.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const MESSAGES = Number(process.env.POSTHORN_TEST_MESSAGES ?? 3000);
const KILLS = 5;

let folder: string;
let path: string;
let schema: TestSchema;
let filled: Filled;
let before: Awaited<ReturnType<typeof showStore>>;

beforeAll(async () => {
  if (!existsSync(PROGRAM)) throw new Error('dist/ is missing: run `npm run build` first (npm test does).');
  folder = await mkdtemp(join(tmpdir(), 'posthorn-migrate-kill-'));
  path = join(folder, 'posthorn.db');
  schema = await createTestSchema();
  const store = await openSqliteStore({ path, thread: false });
  filled = await fillStore(store, { url: 'http://127.0.0.1:9/', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' });
  await addMessages(await Scene.begin({ store, close: async () => {} }));
  before = await showStore(store, filled);
  await store.close();
});

afterAll(async () => {
  await schema.drop();
  await rm(folder, { recursive: true, force: true });
});

async function addMessages(scene: Scene): Promise<void> {
  const fanoutRevision = await scene.fanoutRevision(filled.applicationId);
  const [destinationId = ''] = idsOf(await scene.store.list({ kind: 'endpoint', limit: 1, order: 'ascending' }));
  for (let batch = 0; batch < MESSAGES / 500; batch++) {
    const items = Array.from({ length: 500 }, (_, n) => {
      const id = String(batch * 500 + n).padStart(6, '0');
      return {
        fanoutRevision,
        message: {
          id: `msg_1${id}`,
          applicationId: filled.applicationId,
          eventType: 'invoice.paid',
          payload: Buffer.from(`{"number":"${id}"}`),
          createdAt: 1_767_225_600_000,
        },
        deliveries: [{ id: `dlv_1${id}`, destinationId, state: 'pending' as const }],
      };
    });
    const { results } = await scene.store.accept({ epoch: scene.epoch, now: 1_767_225_600_000, items });
    if (results.some(({ kind }) => kind !== 'accepted')) throw new Error(`not accepted: ${JSON.stringify(results[0])}`);
  }
}

const idsOf = (page: { items: readonly { record: { id: string } }[] }) => page.items.map(({ record }) => record.id);

function start(): ChildProcess & { printed(): string } {
  const child = spawn(
    process.execPath,
    [PROGRAM, 'migrate', '--from', `sqlite:${path}`, '--to', schema.url, '--batch', '25'],
    { env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (printed += chunk));
  return Object.assign(child, { printed: () => printed });
}

async function rowsMoved(): Promise<number> {
  const [found] = await schema.query<{ found: string | null }>("SELECT to_regclass('transfer_progress') AS found");
  if (found?.found == null) return 0;
  const [row] = await schema.query<{ rows: string | null }>('SELECT sum(rows) AS rows FROM transfer_progress');
  return Number(row?.rows ?? 0);
}

describe('a migration that is killed at any point', () => {
  it('goes on where it was, and ends with the same result', { timeout: 120_000 }, async () => {
    const points = Array.from({ length: KILLS }, () => Math.floor(Math.random() * MESSAGES * 2)).sort((a, b) => a - b);
    const left: number[] = [];
    for (const point of points) {
      const child = start();
      const exited = once(child, 'exit');
      while ((await rowsMoved()) < point && child.exitCode === null);
      child.kill('SIGKILL');
      await exited;
      left.push(await rowsMoved());
      if (child.exitCode !== null) throw new Error(`it ended before it could be killed: ${child.printed()}`);
      // What is half there is closed to nodes.
      if ((left.at(-1) ?? 0) > 0) {
        await expect(openPostgresStore({ url: schema.url })).rejects.toMatchObject({ code: 'store_locked' });
      }
    }
    // No run began anew.
    expect(left).toEqual(left.toSorted((a, b) => a - b));
    const last = start();
    const [code] = await once(last, 'exit');
    expect(last.printed()).toContain('The same on both sides');
    expect(code).toBe(0);
    const [, movedLast = ''] = /(\d+) rows in \d+ ms/.exec(last.printed()) ?? [];
    expect(Number(movedLast) + (left.at(-1) ?? 0)).toBe(await rowsMoved());

    const store = await openPostgresStore({ url: schema.url });
    const after = await showStore(store, filled);
    await store.close();
    expect(after.messages).toEqual(before.messages);
    expect(after.records).toEqual(before.records);
    expect(after.attempts).toEqual(before.attempts);
    const ofStates = ({ deliveries }: typeof after) =>
      deliveries.filter(({ id }) => !Object.values(filled.leased).includes(id));
    expect(ofStates(after)).toEqual(ofStates(before));
  });
});
