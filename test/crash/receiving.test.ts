/**
 * kill -9 while signed events come in: whatever was answered 2xx is handled, and what a transactional handler wrote is
 * there once. The handlers' own traces (a file, a table without any constraint) are the judge. Some kills come at a random
 * moment, some in the middle of a handler. POSTHORN_TEST_KILLS (both stores together) and POSTHORN_TEST_SEED make it longer
 * or repeat it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Attempt, Delivery, Message } from '../../src/model/index.ts';
import type { Page, Store } from '../../src/store/index.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { createTestSchema, type TestSchema } from '../../src/testing/postgres-schema.ts';
import { randomFrom } from './seeded-random.ts';
import { freePort } from './server-process.ts';
import { type StripeSender, startSending } from './stripe-sender.ts';

const KILLS = Math.ceil(Number(process.env.POSTHORN_TEST_KILLS ?? 20) / 2);
const SEED = Number(process.env.POSTHORN_TEST_SEED ?? Date.now() % 1_000_000);
const SECRET = 'whsec_of_the_kill_rig';
const SENDERS = 8;
const PROGRAM = fileURLToPath(new URL('./receiving-process.mjs', import.meta.url));
const TIMEOUT_MS = KILLS * 12_000 + 120_000;

let folder: string;
let schema: TestSchema;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-receiving-'));
  schema = await createTestSchema();
  await schema.query(`CREATE TABLE public.effects_${schema.name} (event_id text)`);
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await schema.query(`DROP TABLE public.effects_${schema.name}`);
  await schema.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts the process and waits until it listens. */
async function start(env: Record<string, string>): Promise<ChildProcess> {
  const child = fork(PROGRAM, {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  let printed = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    printed = (printed + chunk.toString()).slice(-10_000);
  });
  const failed = once(child, 'exit').then(() => {
    throw new Error(`it ended before it listened:\n${printed}`);
  });
  // A child that may die in a handler can be gone before it says anything: it has work from the life before.
  await Promise.race([once(child, 'message'), env.DIE_IN_HANDLER === undefined ? failed : failed.catch(() => {})]);
  return child;
}

interface Lives {
  readonly taken: ReadonlySet<string>;
  readonly repeats: number;
  readonly inHandler: number;
}

/** Lets it live and die again and again under load; ends with a life in which all that is open is worked off. */
async function live(env: Record<string, string>, random: () => number): Promise<Lives> {
  const port = await freePort();
  const sender = startSending(`http://127.0.0.1:${port}/in/stripe`, SECRET, SENDERS);
  const own = { ...env, PORT: String(port), SECRET };
  let inHandler = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const diesInHandler = random() < 0.4;
    const after = 1 + Math.floor(random() * 40);
    const child = await start(diesInHandler ? { ...own, DIE_IN_HANDLER: String(after) } : own);
    const gone = once(child, 'exit');
    if (diesInHandler) inHandler += 1;
    else {
      await someMore(sender, random() * 60);
      await sleep(random() * 20);
      child.kill('SIGKILL');
    }
    if (child.exitCode === null && child.signalCode === null) await gone;
    expect(child.signalCode).toBe('SIGKILL');
  }
  const last = await start(own);
  await sender.finish();
  expect(sender.odd).toEqual([]);
  await settled(last);
  const gone = once(last, 'exit');
  last.send('stop');
  await gone;
  expect(last.exitCode).toBe(0);
  return { taken: sender.taken, repeats: sender.repeats, inHandler };
}

/** Waits for a number of events rather than a time, so that a slow machine is killed under the same load as a fast one. */
async function someMore({ taken }: StripeSender, count: number): Promise<void> {
  const until = taken.size + count;
  for (let look = 0; look < 600 && taken.size < until; look++) await sleep(5);
}

/** Waits until nothing is open, as the process itself says. */
async function settled(child: ChildProcess): Promise<void> {
  for (let look = 0; look < 900; look++) {
    const answer = once(child, 'message');
    child.send('counts');
    const [{ pending, leased, held }] = (await answer) as [Record<string, number>];
    if (pending === 0 && leased === 0 && held === 0) return;
    await sleep(100);
  }
  throw new Error('there is still work after 90 s');
}

async function all<T extends { id: string }>(page: (after: T | undefined) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = [];
  for (;;) {
    const { items, done } = await page(found.at(-1));
    found.push(...items);
    if (done) return found;
  }
}

/** Each event with its deliveries, and what was recorded of them, read from the store that the processes left behind. */
async function readBack(store: Store) {
  const [source] = (await store.list({ kind: 'source', limit: 1, order: 'ascending' })).items;
  const applicationId = source?.record.id ?? '';
  const page = <T extends { id: string }>(after: T | undefined) => ({
    limit: 500,
    order: 'ascending' as const,
    ...(after === undefined ? {} : { cursor: { key: after.id, direction: 'forward' as const } }),
  });
  const messages = await all<Message>((after) => store.listMessages({ applicationId, ...page(after) }));
  const deliveries = await all<Delivery>((after) => store.listDeliveries(page(after)));
  const eventIds = new Map(messages.map(({ id, eventId }) => [id, eventId ?? '']));
  const names = new Map<string, string>();
  for (const { record } of (await store.list({ kind: 'endpoint', limit: 10, order: 'ascending' })).items) {
    names.set(record.id, record.url.replace('handler:', ''));
  }
  return {
    messages,
    /** By the handler's name, then the event's id. */
    deliveriesOf(handler: string): Map<string, Delivery[]> {
      const found = new Map<string, Delivery[]>();
      for (const delivery of deliveries) {
        if (names.get(delivery.destinationId) !== handler) continue;
        const eventId = eventIds.get(delivery.messageId) ?? '';
        found.set(eventId, [...(found.get(eventId) ?? []), delivery]);
      }
      return found;
    },
    attemptsOf: async ({ id }: Delivery): Promise<readonly Attempt[]> =>
      (await store.listAttempts({ deliveryId: id, limit: 100, order: 'ascending' })).items,
  };
}
type Left = Awaited<ReturnType<typeof readBack>>;

function timesEach(ids: readonly string[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const id of ids) times.set(id, (times.get(id) ?? 0) + 1);
  return times;
}

/** One message per event, one delivery of it per handler, each of them delivered; nothing that was answered is missing. */
function everythingIsProcessed(left: Left, taken: ReadonlySet<string>, handler: string): Map<string, Delivery[]> {
  const deliveries = left.deliveriesOf(handler);
  expect([...taken].filter((id) => !deliveries.has(id))).toEqual([]);
  // All that was sent was answered in the end: there is nothing else.
  expect(left.messages.length).toBe(taken.size);
  const wrong = [...deliveries].filter(([, each]) => each.length !== 1 || each[0]?.state !== 'delivered');
  expect(wrong).toEqual([]);
  return deliveries;
}

/** At least once; a run too many was begun by a process that did not live to record it. */
async function runsAreExplained(
  left: Left,
  deliveries: ReadonlyMap<string, Delivery[]>,
  file: string,
): Promise<number> {
  const runs = timesEach(readFileSync(join(folder, file), 'utf8').trim().split('\n'));
  expect([...deliveries.keys()].filter((id) => !runs.has(id))).toEqual([]);
  let extra = 0;
  for (const [id, count] of runs) {
    const [delivery] = deliveries.get(id) ?? [];
    if (delivery === undefined) throw new Error(`${id} was handled and is not stored`);
    if (count === 1) continue;
    extra += count - 1;
    const attempts = await left.attemptsOf(delivery);
    const interrupted = attempts.filter(({ error }) => error === 'interrupted').length;
    const delivered = attempts.filter(({ decision }) => decision.kind === 'delivered').length;
    expect({ id, delivered, explained: interrupted >= count - 1 }).toEqual({ id, delivered: 1, explained: true });
  }
  return extra;
}

function report(where: string, { taken, repeats, inHandler }: Lives, extra: number): void {
  const line = `${where}: ${KILLS} kills (${inHandler} inside a handler), ${taken.size} events taken, ${repeats} sent again, ${extra} handled again`;
  process.stdout.write(`receiving under kill -9, ${line}\n`);
  // Without these the kills hit nothing, and the test has shown nothing.
  expect(taken.size).toBeGreaterThan(KILLS);
  expect(repeats).toBeGreaterThan(0);
  expect(extra).toBeGreaterThan(0);
}

describe('kill -9 while receiving', () => {
  it(`ALL-01 PAY-01 PAY-06 ${KILLS} times on SQLite: every event answered 2xx is handled, runs too many are interrupted ones (seed ${SEED})`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    const path = join(folder, 'posthorn.db');
    const env = { STORE: `sqlite:${path}`, RUNS: join(folder, 'runs-sqlite'), DOOR: 'server' };
    const lives = await live(env, randomFrom(SEED));
    const store = await openSqliteStore({ path, thread: false });
    try {
      const left = await readBack(store);
      const deliveries = everythingIsProcessed(left, lives.taken, 'note');
      report('SQLite', lives, await runsAreExplained(left, deliveries, 'runs-sqlite'));
    } finally {
      await store.close();
    }
  });

  it(`ALL-01 PAY-01 PAY-06 ${KILLS} times on PostgreSQL: what a transactional handler writes is there exactly once (seed ${SEED})`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    const table = `public.effects_${schema.name}`;
    const env = { STORE: schema.url, EFFECTS: table, RUNS: join(folder, 'runs-postgres'), DOOR: 'library' };
    const lives = await live(env, randomFrom(SEED + 1));
    const store = await openPostgresStore({ url: schema.url });
    try {
      const left = await readBack(store);
      const effects = timesEach(
        (await schema.query<{ event_id: string }>(`SELECT event_id FROM ${table}`)).map((row) => row.event_id),
      );
      everythingIsProcessed(left, lives.taken, 'effects');
      expect([...effects].filter(([, times]) => times !== 1)).toEqual([]);
      expect(effects.size).toBe(lives.taken.size);
      const deliveries = everythingIsProcessed(left, lives.taken, 'note');
      report('PostgreSQL', lives, await runsAreExplained(left, deliveries, 'runs-postgres'));
    } finally {
      await store.close();
    }
  });
});
