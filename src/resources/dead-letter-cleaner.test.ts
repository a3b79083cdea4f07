import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createIds } from '../ids.ts';
import type { Decision } from '../model/index.ts';
import type { ClaimedDelivery, Store } from '../store/index.ts';
import { createManualClock, type ManualClock } from '../testing/manual-clock.ts';
import { openTestStore } from '../testing/test-store.ts';
import { createArchive } from './dead-letter-archive.ts';
import { createDeadLetterCleaner } from './dead-letter-cleaner.ts';

const DAY_MS = 86_400_000;
const T0 = Date.parse('2026-01-01T00:00:00Z');

let clock: ManualClock;
let store: Store;
let folder: string;
let epoch = 0;
let ids: ReturnType<typeof createIds>;

beforeEach(async () => {
  clock = createManualClock(T0);
  ids = createIds(() => clock.now());
  store = await openTestStore();
  folder = mkdtempSync(join(tmpdir(), 'posthorn-cleaner-'));
  epoch = (await store.join({ now: T0, leaseMs: 1000 * DAY_MS, name: 'test' })).epoch;
  const times = { createdAt: T0, updatedAt: T0 };
  await store.insert({ kind: 'application', record: { id: 'app_1', name: 'A', metadata: {}, ...times } });
  const record = {
    id: 'ep_1',
    applicationId: 'app_1',
    url: 'http://127.0.0.1/',
    description: '',
    version: 1,
    ...times,
  };
  await store.insert({ kind: 'endpoint', record: { ...record, metadata: {}, headers: {}, secrets: [] } });
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const REFUSED = { kind: 'dead' as const, cause: 'rejected' as const, reason: '404' };

/** What a person does, and what becomes of it now. */
async function retry(id: string, decision: Decision): Promise<void> {
  const now = clock.now();
  await store.redeliver({ now, select: { ids: [id] }, from: ['dead'] });
  const discover = { lanes: 1, room: 1 };
  const { deliveries } = await store.claim({ epoch, now, lanes: [], discover });
  await store.record({ epoch, now, items: deliveries.map((each) => attempted(each, decision)) });
}

function attempted(delivery: Pick<ClaimedDelivery, 'id' | 'messageId' | 'attempts' | 'trigger'>, decision: Decision) {
  const now = clock.now();
  const attempt = {
    ...{ id: ids.next('atmpt'), deliveryId: delivery.id, messageId: delivery.messageId, applicationId: 'app_1' },
    ...{ destinationId: 'ep_1', eventType: 'e', number: delivery.attempts + 1, trigger: delivery.trigger },
    ...{ url: 'http://127.0.0.1/', startedAt: now, durationMs: 0, status: 404, response: '', responseTruncated: false },
    decision,
  };
  return { attempt, scheduleAttempts: 1, firstAttemptAt: now };
}

/** So many that are accepted and die now. */
async function letDie(count: number): Promise<string[]> {
  const now = clock.now();
  const { fanoutRevision = 0 } = (await store.get({ kind: 'application', idOrName: 'app_1' })) ?? {};
  const items = Array.from({ length: count }, () => ({
    message: {
      id: ids.next('msg'),
      applicationId: 'app_1',
      eventType: 'e',
      payload: new Uint8Array(2),
      createdAt: now,
    },
    fanoutRevision,
    deliveries: [{ id: ids.next('dlv'), destinationId: 'ep_1', state: 'leased' as const }],
  }));
  await store.accept({ epoch, now, items });
  const attempts = items.map(({ message, deliveries: [delivery] }) => {
    const first = { id: delivery?.id ?? '', messageId: message.id, attempts: 0, trigger: 'scheduled' as const };
    return attempted(first, REFUSED);
  });
  await store.record({ epoch, now, items: attempts });
  return items.map(({ deliveries: [delivery] }) => delivery?.id ?? '');
}

const LASTING = new AbortController().signal;
const deadCount = async () => (await store.counts({ most: 10_000 })).dead;

describe('the clean-up of dead letters', () => {
  it('SUB-13 deletes what died too long ago, with its message, and nothing that is younger', async () => {
    const cleaner = createDeadLetterCleaner({ store, clock, keepMs: 30 * DAY_MS });
    await letDie(450);
    await clock.advance(20 * DAY_MS);
    const young = await letDie(3);
    await cleaner.run(LASTING);
    expect(await deadCount()).toBe(453);
    await clock.advance(11 * DAY_MS);
    await cleaner.run(LASTING);
    expect(await deadCount()).toBe(3);
    const left = await store.listMessages({ applicationId: 'app_1', limit: 1000, order: 'ascending' });
    expect(left.items).toHaveLength(young.length);
  });

  it('SUB-13 writes them to a file first, from which they can be restored', async () => {
    const cleaner = createDeadLetterCleaner({ store, clock, keepMs: DAY_MS, folder });
    const dead = await letDie(250);
    await clock.advance(2 * DAY_MS);
    await cleaner.run(LASTING);
    expect(readdirSync(folder)).toEqual(['dead-letters-2026-01-03.jsonl']);
    const lines = readFileSync(join(folder, 'dead-letters-2026-01-03.jsonl'), 'utf8').trim().split('\n');
    expect(await createArchive({ store, clock }).restore(lines)).toMatchObject({ restored: 250 });
    expect((await store.getDelivery({ id: dead[0] ?? '' }))?.state).toBe('dead');
  });

  it('SUB-13 keeps what a person restored for the whole time again, and it died when it died', async () => {
    const cleaner = createDeadLetterCleaner({ store, clock, keepMs: 30 * DAY_MS, folder });
    const [id = ''] = await letDie(1);
    await clock.advance(31 * DAY_MS);
    await cleaner.run(LASTING);
    const [file = ''] = readdirSync(folder);
    await createArchive({ store, clock }).restore(readFileSync(join(folder, file), 'utf8').split('\n'));
    await clock.advance(29 * DAY_MS);
    await cleaner.run(LASTING);
    expect(await store.getDelivery({ id })).toMatchObject({ state: 'dead', deadAt: T0 });
    await clock.advance(2 * DAY_MS);
    await cleaner.run(LASTING);
    expect(await deadCount()).toBe(0);
  });

  it.each([
    { name: 'delivered', decision: { kind: 'delivered' as const, reason: '200' }, why: /^it is delivered/ },
    { name: 'dead again', decision: REFUSED, why: /^it died again/ },
  ])('SUB-13 leaves what was retried while it was archived and is $name, and says so', async ({ decision, why }) => {
    const told: unknown[][] = [];
    const cleaner = createDeadLetterCleaner({
      store: { ...store, purge: (input) => retry(retried, decision).then(() => store.purge(input)) },
      clock,
      keepMs: DAY_MS,
      folder,
      onCleaned: (count) => told.push([count]),
      onKept: (...kept) => told.push(kept),
    });
    const [retried = '', other = ''] = await letDie(2);
    await clock.advance(2 * DAY_MS);
    await cleaner.run(LASTING);
    expect(await store.getDelivery({ id: other })).toBeUndefined();
    expect(await store.getDelivery({ id: retried })).toMatchObject({ attempts: 2 });
    const attempts = await store.listAttempts({ deliveryId: retried, limit: 10, order: 'ascending' });
    expect(attempts.items).toHaveLength(2);
    const file = join(folder, 'dead-letters-2026-01-03.jsonl');
    expect(told).toEqual([[[{ id: retried, reason: expect.stringMatching(why) }], file], [1]]);
    const lines = readFileSync(file, 'utf8').split('\n');
    expect(await createArchive({ store, clock }).restore(lines)).toMatchObject({ restored: 1, exists: 1 });
  });

  it('SUB-13 deletes nothing that it could not write', async () => {
    const cleaner = createDeadLetterCleaner({ store, clock, keepMs: DAY_MS, folder: '/dev/null/archive' });
    await letDie(1);
    await clock.advance(2 * DAY_MS);
    await expect(cleaner.run(LASTING)).rejects.toThrow(/ENOTDIR/);
    expect(await deadCount()).toBe(1);
  });

  it('SUB-13 says how many it deleted, and begins no other chunk once it is told to end', async () => {
    const cleaned: number[] = [];
    const onCleaned = (count: number) => cleaned.push(count);
    const cleaner = createDeadLetterCleaner({ store, clock, keepMs: DAY_MS, onCleaned });
    await letDie(2);
    await clock.advance(2 * DAY_MS);
    await cleaner.run(AbortSignal.abort());
    expect(await deadCount()).toBe(2);
    await cleaner.run(LASTING);
    expect(cleaned).toEqual([2]);
  });
});
