/** Receiving on a real engine and a real store, with all that happens kept for the test to look at. */
import { type Clock, systemClock } from '../../clock.ts';
import { createEngine, type Engine, type EngineEvent, type Logger, logEvent } from '../../engine/index.ts';
import { createIds } from '../../ids.ts';
import type { Delivery, Message } from '../../model/index.ts';
import { createAddressGuard, createSender } from '../../outbound/index.ts';
import { isPresetName, presets } from '../../policy/index.ts';
import { createResources, type Resources } from '../../resources/index.ts';
import { createSecretBox } from '../../signing/index.ts';
import type { Store } from '../../store/index.ts';
import { awaitedStore } from '../../testing/awaited-store.ts';
import type { ManualClock } from '../../testing/manual-clock.ts';
import { openTestDispatch, openTestStore } from '../../testing/test-store.ts';
import { createHandlerRegistry } from '../handlers/handler-registry.ts';
import { type DeclaredSource, declareSource, type EventMap } from '../library/declared-source.ts';
import { DeclaredSources } from '../library/declared-sources.ts';
import type { SourceOptions } from '../library/source-arguments.ts';
import type { VerifyPorts } from '../providers/index.ts';
import { createReceiver, type Receiver } from '../receive.ts';

export interface InboundRig extends AsyncDisposable {
  readonly store: Store;
  readonly engine: Engine;
  readonly resources: Resources;
  readonly receiver: Receiver;
  readonly clock: Clock;
  readonly log: { level: string; fields: Record<string, unknown>; message: string }[];
  readonly events: readonly EngineEvent[];
  source<Events extends object = EventMap>(name: string, options: SourceOptions): DeclaredSource<Events>;
  messages(source: string): Promise<readonly Message[]>;
  deliveries(): Promise<readonly Delivery[]>;
  /** Resolves when this many attempts have been recorded. */
  attempts(count: number): Promise<void>;
}

export interface InboundRigOptions {
  readonly clock?: Clock;
  readonly store?: Store;
  readonly ports?: Partial<Omit<VerifyPorts, 'now'>>;
  readonly maxBodyBytes?: number;
  readonly takesWork?: boolean;
  readonly leaseMs?: number;
}

export async function createInboundRig(options: InboundRigOptions = {}): Promise<InboundRig> {
  const { clock = systemClock, maxBodyBytes = 1024 * 1024 } = options;
  const opened = options.store ?? (await openTestStore());
  const store = 'advance' in clock ? awaitedStore(opened, clock as ManualClock) : opened;
  const ids = createIds(() => clock.now());
  const guard = createAddressGuard({ allow: ['127.0.0.0/8'] });
  const sender = createSender({ clock, guard, userAgent: 'test' });
  const secretBox = createSecretBox('a test key of enough length');
  const log: InboundRig['log'] = [];
  const keep = (level: string) => (fields: object, message: string) => {
    log.push({ level, fields: fields as Record<string, unknown>, message });
  };
  const logger: Logger = { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
  const handlers = createHandlerRegistry({ clock, logger });
  const declared = new DeclaredSources();
  const preset = (name: string) => (isPresetName(name) ? presets[name].policy : undefined);
  const base = { store, clock, ids, secretBox, preset, defaultPolicy: 'public-api' };
  const engine = createEngine({
    ...base,
    sender,
    handlers,
    nodeName: 'test node',
    dispatch: openTestDispatch(clock),
    takesWork: options.takesWork ?? true,
    ...(options.leaseMs !== undefined && { leaseMs: options.leaseMs }),
  });
  const events: EngineEvent[] = [];
  let watchers: (() => void)[] = [];
  engine.on((event) => {
    events.push(event);
    logEvent(logger, event);
    for (const watch of watchers) watch();
  });
  const receiver = createReceiver({
    store,
    engine,
    clock,
    secretBox,
    logger,
    ports: {
      get now() {
        return clock.now();
      },
      fetchCertificate: () => Promise.reject(new Error('no network in this test')),
      confirmSubscription: () => Promise.reject(new Error('no network in this test')),
      ...options.ports,
    },
    maxBodyBytes,
  });
  const changed = (id?: string) => {
    engine.changed(id);
    receiver.changed(id);
  };
  const resources = createResources({ ...base, engine: { ...engine, changed }, guard });
  await engine.start();

  return {
    store,
    engine,
    resources,
    receiver,
    clock,
    log,
    events,
    source: (name, sourceOptions) =>
      declareSource(name, sourceOptions, {
        sources: resources.sources,
        deadLetters: resources.deadLetters,
        handlers,
        receiver,
        clock,
        logger,
        transactional: store.transact !== undefined,
        isClosed: () => false,
        declared,
        onHandler: () => engine.wake(),
      }),
    async messages(source) {
      const { id: applicationId } = await resources.sources.get(source);
      return (await store.listMessages({ applicationId, limit: 1000, order: 'ascending' })).items;
    },
    deliveries: async () => (await store.listDeliveries({ limit: 1000, order: 'ascending' })).items,
    attempts(count) {
      return new Promise((resolve) => {
        const watch = () => {
          if (events.filter(({ kind }) => kind === 'attempt').length < count) return;
          watchers = watchers.filter((each) => each !== watch);
          resolve();
        };
        watchers.push(watch);
        watch();
      });
    },
    async [Symbol.asyncDispose]() {
      await engine.stop(0);
      await sender.close();
      if (options.store === undefined) await store.close();
    },
  };
}
