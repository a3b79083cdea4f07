/** A store with something in every table and a delivery in every state, and everything that it shows through the port. */
import { twinId } from '../ids.ts';
import type { Attempt, Decision, Message } from '../model/index.ts';
import { presets } from '../policy/index.ts';
import { DELIVERED, EXHAUSTED, remembered, retryIn, Scene, T0 } from '../store/conformance/scene.ts';
import type { ClaimedDelivery, RecordKind, Store } from '../store/index.ts';

const YEAR_MS = 365 * 24 * 3_600_000;
const PLENTY = 100_000;
const KINDS: readonly RecordKind[] = ['application', 'source', 'endpoint', 'eventType', 'policy', 'token'];
const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const UNICODE = 'Grüße ☃ 💌 \u202e';

export interface Filled {
  readonly applicationId: string;
  readonly owners: readonly string[];
  readonly keys: readonly string[];
  readonly leased: { readonly active: string; readonly paused: string; readonly removed: string };
  readonly due: readonly string[];
  readonly dead: string;
}

export async function fillStore(store: Store, { url, secret }: { url: string; secret: string }): Promise<Filled> {
  const scene = await Scene.begin({ store, close: async () => {} });
  const { applicationId } = scene;
  const secrets = [{ key: secret, createdAt: T0 }];
  const other = await scene.application({ uid: 'other', name: UNICODE, metadata: { note: 'a\u0000b', mood: UNICODE } });
  const active = await scene.endpoint({ url, secrets, uid: 'active', description: UNICODE, headers: { 'x-a': 'b' } });
  const [paused, removed, failing] = [
    await scene.endpoint({ url, secrets }),
    await scene.endpoint({ url, secrets }),
    await scene.endpoint({ url, secrets }),
  ];
  const sourceId = await scene.source({ uid: 'stripe', settings: secret, dedupe: { by: 'json', path: 'data.id' } });
  const handler = await scene.handler(sourceId);
  await insertOthers(store, applicationId);

  const message: Partial<Message> = { payload: EVERY_BYTE, channels: ['a', 'ü'], tags: ['x "y"'], eventId: 'order-1' };
  const due = await scene.publish({ to: [active], message, remember: remembered({ expiresAt: T0 + 2 * YEAR_MS }) });
  await scene.offer({ to: [active], message: { ...message, payload: new Uint8Array([1]) } });
  due.push(...(await scene.publish({ to: [active], message: { payload: new Uint8Array(0), tags: [] } })));
  const received: Partial<Message> = {
    applicationId: sourceId,
    payload: new TextEncoder().encode(`{"snow":"${UNICODE}"}`),
    headers: { 'x-signature': UNICODE },
    contentType: 'application/json; charset=utf-8',
  };
  await scene.publish({ to: [handler], message: received });
  await scene.publish({ to: [], message: { applicationId: other, eventId: 'nobody' } });

  await attempt(scene, failing, DELIVERED);
  await attempt(scene, failing, DELIVERED, 'with its delivery');
  await attempt(scene, failing, retryIn(10 * YEAR_MS));
  await attempt(scene, failing, { kind: 'dead', cause: 'rejected', reason: UNICODE });
  const dead = await attempt(scene, failing, EXHAUSTED);
  const discarded = await attempt(scene, failing, EXHAUSTED);
  await store.discard({ now: T0, select: { ids: [discarded] }, reason: 'given up by hand' });

  const leased = {
    active: (await scene.publish({ to: [active], state: 'leased' }))[0] ?? '',
    paused: (await scene.publish({ to: [paused], state: 'leased' }))[0] ?? '',
    removed: (await scene.publish({ to: [removed], state: 'leased' }))[0] ?? '',
  };
  await scene.publish({ to: [paused] });
  await store.setStatus({ endpointId: paused, status: 'paused', reason: 'by hand', now: T0 });
  await scene.sweepAll();
  // Deleted without a sweep after it: that is still to be done wherever the store is moved to.
  await scene.publish({ to: [removed] });
  await store.remove({ kind: 'endpoint', id: removed, now: T0 });
  return { applicationId, owners: [applicationId, other, sourceId], keys: ['key-1'], leased, due, dead };
}

/** Everything, in the order of the lists. */
export async function showStore(store: Store, { owners, keys }: Pick<Filled, 'owners' | 'keys'>) {
  const page = { limit: PLENTY, order: 'ascending' } as const;
  const records = await Promise.all(KINDS.map(async (kind) => [kind, (await store.list({ kind, ...page })).items]));
  const messages = await Promise.all(
    owners.map(async (applicationId) => (await store.listMessages({ applicationId, ...page })).items),
  );
  return {
    records: Object.fromEntries(records) as Record<RecordKind, unknown[]>,
    messages: messages.flat().map((message) => ({ ...message, payload: Buffer.from(message.payload).toString('hex') })),
    deliveries: (await store.listDeliveries(page)).items,
    attempts: (await store.listAttempts(page)).items,
    groups: (await store.listGroups({ limit: PLENTY, most: PLENTY })).groups,
    remembered: await Promise.all(keys.map((key) => store.recall({ key, now: T0 }))),
  };
}

/** A message to an endpoint with one attempt; answers its delivery. */
async function attempt(
  scene: Scene,
  destinationId: string,
  decision: Decision,
  kept: 'in a row' | 'with its delivery' = 'in a row',
): Promise<string> {
  const [id = ''] = await scene.publish({ to: [destinationId], state: 'leased' });
  const delivery = await scene.delivery(id);
  const item = scene.recordItem(
    { ...delivery, firstAttemptAt: undefined, dueAt: T0, payload: EVERY_BYTE } as ClaimedDelivery,
    decision,
    kept === 'in a row' ? { error: 'timeout' } : {},
  );
  const made: { -readonly [K in keyof Attempt]: Attempt[K] } = {
    ...item.attempt,
    response: `${UNICODE} a`,
    responseTruncated: true,
  };
  if (kept === 'with its delivery') made.id = twinId('atmpt', id);
  await scene.store.record({
    epoch: scene.epoch,
    now: T0 + 100,
    items: [{ ...item, attempt: made, maxAttempts: 7 }],
  });
  return id;
}

async function insertOthers(store: Store, applicationId: string): Promise<void> {
  const stamps = { createdAt: T0, updatedAt: T0, description: UNICODE };
  const token = { name: UNICODE, scope: 'read-only', createdAt: T0, updatedAt: T0 } as const;
  const { policy } = presets['public-api'];
  const schemas = { '1': { type: 'object', title: 'a\u0000b' } };
  const flags = { archived: true, deprecated: false, schemas };
  await store.insert({ kind: 'eventType', record: { id: 'evtype_1', name: 'invoice.paid', ...flags, ...stamps } });
  await store.insert({ kind: 'policy', record: { id: 'pol_1', name: 'mine', policy, ...stamps } });
  await store.insert({ kind: 'token', record: { ...token, id: 'tok_1', hash: 'hash 1' } });
  await store.insert({ kind: 'token', record: { ...token, id: 'tok_2', hash: 'hash 2', applicationId } });
}
