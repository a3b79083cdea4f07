/** The relay on a real PostgreSQL store, one read of which can be made to fail. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { byStore } from '../dispatch/index.ts';
import { createIds } from '../ids.ts';
import type { Message } from '../model/index.ts';
import { presets } from '../policy/index.ts';
import { createSecretBox } from '../signing/index.ts';
import { openPostgresStore, type PostgresStore } from '../store/postgres/index.ts';
import { TEST_SECRET } from '../testing/engine-rig.ts';
import { createTestSchema, type TestSchema } from '../testing/postgres-schema.ts';
import { Acceptor } from './accept.ts';
import { Directory } from './directory.ts';
import { HandOffs } from './hand-offs.ts';
import { NO_HANDLERS } from './handling.ts';
import type { Job } from './lane.ts';
import { Lanes } from './lanes.ts';

const clock = systemClock;
const ids = createIds(() => clock.now());

let schema: TestSchema;
let store: PostgresStore;
let acceptor: Acceptor;
let lanes: Lanes;
let started: Job[];
/** While set, this application cannot be read. */
let unreadable: string | undefined;

beforeEach(async () => {
  schema = await createTestSchema();
  store = await openPostgresStore({ url: schema.url, poolSize: 4 });
  started = [];
  unreadable = undefined;
  lanes = new Lanes({
    clock,
    maxInFlight: 100,
    laneCeiling: 10,
    aheadMs: () => 0,
    mostPerClaim: 100,
    start: (job) => void started.push(job),
    onHungry() {},
  });
  const { epoch } = await store.join({ now: clock.now(), leaseMs: 60_000, name: 'test' });
  const read: PostgresStore = {
    ...store,
    get: (input) =>
      'idOrName' in input && input.idOrName === unreadable
        ? Promise.reject(new Error('the connection was lost'))
        : store.get(input),
  };
  acceptor = new Acceptor({
    store: read,
    clock,
    ids,
    directory: new Directory({
      store: read,
      clock,
      secretBox: createSecretBox(undefined),
      defaultPolicy: presets['public-api'].policy,
      preset: () => undefined,
    }),
    lanes,
    handOffs: new HandOffs(ids),
    handlers: NO_HANDLERS,
    dispatch: byStore,
    takesWork: true,
    epoch: () => epoch,
    onHandedOff() {},
    onFenced() {},
  });
});

afterEach(async () => {
  await store.close();
  await schema.drop();
});

/** An application whose only endpoint takes one request at a time. */
async function application(): Promise<string> {
  const stamps = { metadata: {}, createdAt: clock.now(), updatedAt: clock.now() };
  const id = ids.next('app');
  await store.insert({ kind: 'application', record: { id, name: 'test', ...stamps } });
  const record = { id: ids.next('ep'), applicationId: id, url: 'http://127.0.0.1:9/', description: '', version: 1 };
  const secrets = [{ key: TEST_SECRET, createdAt: 0 }];
  await store.insert({ kind: 'endpoint', record: { ...record, maxInFlight: 1, headers: {}, secrets, ...stamps } });
  return id;
}

/** Publishes as a caller does in a transaction of its own, which is committed. */
async function leave(applicationId: string): Promise<string> {
  const client = { query: async (text: string, values: unknown[]) => ({ rows: await schema.query(text, values) }) };
  const payload = new TextEncoder().encode('{"order":1}');
  const message: Message = { id: ids.next('msg'), applicationId, eventType: 'a.b', payload, createdAt: clock.now() };
  await store.enqueue(client, message);
  return message.id;
}

it('ALL-03 a relay that cannot read the endpoints of one message gives back the places that the others were promised', async () => {
  const [readable, other] = [await application(), await application()];
  const messages = [await leave(readable), await leave(readable), await leave(other), await leave(readable)];
  const free = lanes.freeBytes;

  unreadable = other;
  // More often than a lane of one at a time has places to promise.
  for (let n = 0; n < 10; n++) await expect(acceptor.relay(100)).rejects.toThrow('the connection was lost');
  expect(lanes.freeBytes).toBe(free);

  unreadable = undefined;
  expect(await acceptor.relay(100)).toBe(messages.length);
  for (let n = 0; n < started.length; n++) lanes.finish(started[n] as Job, true);
  expect(started.map(({ delivery }) => delivery.messageId).toSorted((a, b) => a.localeCompare(b))).toEqual(messages);
  expect(lanes.freeBytes).toBe(free);
});
