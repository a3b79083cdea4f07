/** An engine on a real store and a real sender, with what a test needs to set it up and watch it. */
import type { Clock } from '../clock.ts';
import type { Publication, Published } from '../engine/index.ts';
import { createEngine, type Engine, type EngineEvent, type EngineOptions } from '../engine/index.ts';
import { createIds } from '../ids.ts';
import type { Application, Delivery, Endpoint, Policy } from '../model/index.ts';
import { createAddressGuard, createSender } from '../outbound/index.ts';
import { isPresetName, presets } from '../policy/index.ts';
import { createSecretBox } from '../signing/index.ts';
import type { Store } from '../store/index.ts';
import { awaitedStore } from './awaited-store.ts';
import type { ManualClock } from './manual-clock.ts';
import { openTestDispatch, openTestStore } from './test-store.ts';

/** For tests that let an hour pass: with the usual lease that is six thousand calls of the store, with this one thousand. */
export const LONG_LEASE_MS = 600_000;

export const TEST_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export interface EngineRig {
  readonly store: Store;
  readonly engine: Engine;
  readonly application: Application;
  readonly events: readonly EngineEvent[];
  endpoint(url: string, fields?: Partial<Endpoint>): Promise<Endpoint>;
  publish(payload?: unknown, fields?: Partial<Publication>): Promise<Extract<Published, { kind: 'accepted' }>>;
  /** The only delivery of a message, or the one to an endpoint. */
  delivery(messageId: string, endpointId?: string): Promise<Delivery>;
  /** Resolves with the first event, past or coming, that fits. */
  event<K extends EngineEvent['kind']>(
    kind: K,
    fits?: (event: Extract<EngineEvent, { kind: K }>) => boolean,
  ): Promise<Extract<EngineEvent, { kind: K }>>;
  /** Resolves when this many attempts have been recorded. */
  attempts(count: number): Promise<void>;
  /** Another node on the same store. */
  secondEngine(options?: Partial<EngineOptions>): Engine;
  close(): Promise<void>;
}

export async function createEngineRig(
  options: Partial<EngineOptions> & { clock: Clock; policy?: Policy },
): Promise<EngineRig> {
  const { clock, policy, ...overrides } = options;
  const ids = createIds(() => clock.now());
  const opened = options.store ?? (await openTestStore());
  const store = 'advance' in clock ? awaitedStore(opened, clock as ManualClock) : opened;
  const sender = createSender({ clock, guard: createAddressGuard({ allow: ['127.0.0.0/8'] }), userAgent: 'test' });
  const base: EngineOptions = {
    clock,
    ids,
    sender,
    secretBox: createSecretBox(undefined),
    defaultPolicy: policy ?? 'public-api',
    preset: (name) => (isPresetName(name) ? presets[name].policy : undefined),
    nodeName: 'test node',
    dispatch: openTestDispatch(clock),
    ...overrides,
    store,
  };
  const engines: Engine[] = [];
  const makeEngine = (more: Partial<EngineOptions> = {}) => {
    const engine = createEngine({ ...base, ...more });
    engines.push(engine);
    return engine;
  };
  const engine = makeEngine();
  const events: EngineEvent[] = [];
  let watchers: (() => void)[] = [];
  engine.on((event) => {
    events.push(event);
    for (const watch of watchers) watch();
  });
  const until = <T>(look: () => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const watch = () => {
        const found = look();
        if (found === undefined) return;
        watchers = watchers.filter((each) => each !== watch);
        resolve(found);
      };
      watchers.push(watch);
      watch();
    });

  const application: Application = { id: ids.next('app'), name: 'test', metadata: {}, createdAt: 0, updatedAt: 0 };
  await store.insert({ kind: 'application', record: application });
  await engine.start();

  return {
    store,
    engine,
    application,
    events,
    async endpoint(url, fields = {}) {
      const record: Endpoint = {
        id: ids.next('ep'),
        applicationId: application.id,
        url,
        description: '',
        version: 1,
        metadata: {},
        headers: {},
        secrets: [{ key: TEST_SECRET, createdAt: 0 }],
        createdAt: clock.now(),
        updatedAt: clock.now(),
        ...fields,
      };
      await store.insert({ kind: 'endpoint', record });
      engine.changed(application.id);
      return record;
    },
    async publish(payload = { hello: 'world' }, fields = {}) {
      const published = await engine.publish({
        application: application.id,
        eventType: 'invoice.paid',
        payload: new TextEncoder().encode(JSON.stringify(payload)),
        ...fields,
      });
      if (published.kind !== 'accepted') throw new Error(`not accepted: ${published.kind}`);
      return published;
    },
    async delivery(messageId, destinationId) {
      const { items } = await store.listDeliveries({
        messageId,
        ...(destinationId === undefined ? {} : { destinationId }),
        limit: 2,
        order: 'ascending',
      });
      const [only] = items;
      if (only === undefined || items.length > 1) throw new Error(`${items.length} deliveries of ${messageId}`);
      return only;
    },
    event(kind, fits = () => true) {
      type Wanted = Extract<EngineEvent, { kind: typeof kind }>;
      return until(() => events.find((event): event is Wanted => event.kind === kind && fits(event as Wanted)));
    },
    async attempts(count) {
      await until(() => (events.filter(({ kind }) => kind === 'attempt').length >= count ? true : undefined));
    },
    secondEngine: makeEngine,
    async close() {
      for (const each of engines) await each.stop(0);
      await sender.close();
      if (options.store === undefined) await store.close();
    },
  };
}
