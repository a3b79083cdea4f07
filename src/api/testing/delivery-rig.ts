/** The API over a running engine, an application `acme` and a receiver for its endpoints: all real, on loopback. */
import { type Clock, systemClock } from '../../clock.ts';
import { createEngine, type EngineEvent } from '../../engine/index.ts';
import { createIds } from '../../ids.ts';
import { createAddressGuard, createSender } from '../../outbound/index.ts';
import { isPresetName, presets } from '../../policy/index.ts';
import { createSecretBox } from '../../signing/index.ts';
import { openTestDispatch, openTestStore } from '../../testing/test-store.ts';
import { openReceiver, type Receiver } from './receiver.ts';
import { createTestApi, type TestApi } from './test-api.ts';

export interface DeliveryRig extends TestApi {
  readonly receiver: Receiver;
  /** Resolves when so many attempts have been recorded in all. */
  attempts(count: number): Promise<void>;
  /** Resolves when an endpoint of the application has this status. */
  endpointIs(status: string): Promise<void>;
  /** An endpoint of `acme` at the receiver. */
  endpoint(fields?: object): Promise<{ id: string }>;
  publish(fields?: object): Promise<{ id: string }>;
}

/** Two tries, ten milliseconds apart, whatever the answer; then dead, and the endpoint stays as it is. */
export const TWO_TRIES = {
  schedule: { kind: 'explicit', delaysMs: [10] },
  jitter: { kind: 'none' },
  onExhausted: 'keep',
};

export interface RigOptions {
  readonly clock?: Clock;
  /** `svix-*` headers beside the standard ones. */
  readonly svixNames?: boolean;
  readonly maxPayloadBytes?: number;
}

export async function openDeliveryRig(options: RigOptions = {}): Promise<DeliveryRig> {
  const { clock = systemClock, svixNames = false, maxPayloadBytes } = options;
  const store = await openTestStore();
  const ids = createIds(() => clock.now());
  const guard = createAddressGuard({ allow: ['127.0.0.0/8'] });
  const secretBox = createSecretBox('a test key of enough length');
  const sender = createSender({ clock, guard, userAgent: 'Posthorn/test' });
  const engine = createEngine({
    store,
    clock,
    ids,
    sender,
    secretBox,
    defaultPolicy: 'public-api',
    preset: (name) => (isPresetName(name) ? presets[name].policy : undefined),
    nodeName: 'test',
    dispatch: openTestDispatch(clock),
    svixNames,
  });
  const events = watch(engine.on);
  await engine.start();
  const api = await createTestApi({
    store,
    clock,
    ids,
    guard,
    secretBox,
    engine,
    ...(maxPayloadBytes !== undefined && { maxPayloadBytes }),
  });
  const receiver = await openReceiver();
  await api.resources.applications.create({ name: 'Acme', uid: 'acme' });

  async function create(path: string, body: object): Promise<{ id: string }> {
    const answer = await api.call('POST', path, body);
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  return {
    ...api,
    receiver,
    attempts: (count) => events.until((seen) => seen.filter(({ kind }) => kind === 'attempt').length >= count),
    endpointIs: (status) =>
      events.until((seen) => seen.some((event) => event.kind === 'endpoint' && event.health.status === status)),
    endpoint: (fields = {}) => create('app/acme/endpoint', { url: receiver.url, policy: TWO_TRIES, ...fields }),
    publish: (fields = {}) => create('app/acme/msg', { eventType: 'invoice.paid', payload: { n: 1 }, ...fields }),
    async [Symbol.asyncDispose]() {
      await engine.stop(0);
      await sender.close();
      await api[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

function watch(on: (listener: (event: EngineEvent) => void) => unknown) {
  const seen: EngineEvent[] = [];
  const waiting = new Set<() => void>();
  on((event) => {
    seen.push(event);
    for (const look of [...waiting]) look();
  });
  return {
    until: (holds: (events: readonly EngineEvent[]) => boolean): Promise<void> =>
      new Promise((resolve) => {
        const look = () => {
          if (!holds(seen)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}
