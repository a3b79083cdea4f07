/**
 * kill -9 at random moments under load, against the real program: what was answered 202 arrives, whatever is killed.
 * The endpoint keeps its own log and is the judge. It runs on every store (test/store-matrix.ts), a few kills on each.
 * POSTHORN_TEST_KILLS and POSTHORN_TEST_SEED make it longer or repeat it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedReceiver, startReceiver } from '../../src/testing/scripted-receiver.ts';
import { testStore } from '../../src/testing/test-store.ts';
import { randomFrom } from './seeded-random.ts';
import { openServerPlace, type ServerPlace } from './server-place.ts';
import { ADMIN_TOKEN, freePort, type ServerProcess, startServer } from './server-process.ts';

/** A file's recovery is a start away, a server's a lease: the latter takes longer. */
const KILLS = Number(process.env.POSTHORN_TEST_KILLS ?? (testStore() === 'sqlite' ? 50 : 5));
const SEED = Number(process.env.POSTHORN_TEST_SEED ?? Date.now() % 1_000_000);
const PUBLISHERS = 12;
const MOST_PER_LIFE = 200;

let place: ServerPlace;
let receiver: ScriptedReceiver;
let server: ServerProcess | undefined;

beforeAll(async () => {
  place = await openServerPlace();
  receiver = await startReceiver();
});

afterAll(async () => {
  await server?.end('SIGKILL');
  await receiver.close();
  await place.close();
});

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${server?.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

interface List<T> {
  data: T[];
  iterator: string | null;
  done: boolean;
}

describe('kill -9', () => {
  it(`ALL-01 ALL-02 BUD-07 ${KILLS} times under load loses nothing accepted, and everything drains (seed ${SEED})`, {
    timeout: KILLS * 12_000 + 120_000,
  }, async () => {
    const random = randomFrom(SEED);
    const port = await freePort();
    const start = () => startServer({ store: place.store, env: place.env, port });
    server = await start();
    const app = await call<{ id: string }>('POST', '/app', { name: 'crash', uid: 'crash' });
    await call('POST', `/app/${app.id}/endpoint`, { url: receiver.url, policy: 'outbox' });

    const accepted = new Set<string>();
    let published = 0;
    let unanswered = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      let stop = false;
      const publishers = Array.from({ length: PUBLISHERS }, async () => {
        while (!stop) {
          const n = published++;
          try {
            const message = await call<{ id: string }>('POST', `/app/${app.id}/msg`, {
              eventType: 'crash.test',
              payload: { n, filler: 'x'.repeat(200) },
            });
            accepted.add(message.id);
          } catch {
            // The server died before it answered: this one may be stored or not.
            unanswered += 1;
            return;
          }
        }
      });
      await someMore(accepted, random() * MOST_PER_LIFE);
      await new Promise((resolve) => setTimeout(resolve, random() * 20));
      await server.end('SIGKILL');
      stop = true;
      await Promise.all(publishers);
      server = await start();
    }

    await drained();
    const arrivals = new Map<string, number>();
    for (const { headers } of receiver.arrivals) {
      const id = String(headers['webhook-id']);
      arrivals.set(id, (arrivals.get(id) ?? 0) + 1);
    }
    const lost = [...accepted].filter((id) => !arrivals.has(id));
    expect(lost).toEqual([]);
    expect(accepted.size).toBeGreaterThan(KILLS);
    // What arrived without an answer to its publisher was under way at a kill.
    const unexpected = [...arrivals.keys()].filter((id) => !accepted.has(id));
    expect(unexpected.length).toBeLessThanOrEqual(unanswered);
    await duplicatesAreExplained(app.id, arrivals);
    const ended = await server.end('SIGTERM');
    expect(ended).toEqual({ code: 0, signal: null });
  });
});

/** Waits for a number of messages rather than a time, so that a slow machine is killed under the same load as a fast one. */
async function someMore(accepted: ReadonlySet<string>, count: number): Promise<void> {
  const until = accepted.size + count;
  for (let look = 0; look < 1000 && accepted.size < until; look++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Waits until nothing is pending or leased; whatever is dead by then is a loss. */
async function drained(): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const open = await Promise.all(
      ['pending', 'leased', 'held'].map((state) => call<List<unknown>>('GET', `/delivery?state=${state}&limit=1`)),
    );
    if (open.every(({ data }) => data.length === 0)) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  for (const state of ['pending', 'leased', 'held', 'dead']) {
    expect((await call<List<unknown>>('GET', `/delivery?state=${state}&limit=5`)).data).toEqual([]);
  }
}

/** A message that arrived more than once has an interrupted attempt for each time too many. */
async function duplicatesAreExplained(appId: string, arrivals: ReadonlyMap<string, number>): Promise<void> {
  for (const [id, count] of arrivals) {
    if (count === 1) continue;
    const { data } = await call<List<{ responseStatusCode: number; status: number }>>(
      'GET',
      `/app/${appId}/attempt/msg/${id}?limit=250`,
    );
    const interrupted = data.filter(({ status }) => status !== 0).length;
    expect({ id, count, interrupted, explained: interrupted >= count - 1 }).toMatchObject({ explained: true });
  }
}
