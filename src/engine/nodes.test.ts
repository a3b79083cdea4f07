/** Leases, fencing, reaping, graceful stop, and a store in trouble. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PosthornError } from '../errors.ts';
import { floorId } from '../ids.ts';
import { presets } from '../policy/index.ts';
import type { Store } from '../store/index.ts';
import { createEngineRig, type EngineRig } from '../testing/engine-rig.ts';
import { createManualClock, type ManualClock } from '../testing/manual-clock.ts';
import { type ScriptedReceiver, startReceiver } from '../testing/scripted-receiver.ts';
import { openTestStore } from '../testing/test-store.ts';
import type { Engine } from './index.ts';

const LEASE_MS = 10_000;

let clock: ManualClock;
let store: Store;
let rig: EngineRig;
let receiver: ScriptedReceiver;
/** While set, these operations of the store reject. */
let failing: ReadonlySet<string>;
/** What they reject with, where not with an error of any kind. */
let refusal: Error | undefined;
let calls: string[];
/** While set, claims are made at once and answered after it. */
let holding: Promise<void> | undefined;
/** The epochs under which nodes joined, in their order. */
let epochs: number[];
/** Operations whose next answer is lost, though they are done. */
let unanswered: Set<string>;
/** From where on a node said that its hand-offs are, at its last beat. */
let handedFrom: string | undefined;

beforeEach(async () => {
  clock = createManualClock();
  failing = new Set();
  refusal = undefined;
  holding = undefined;
  calls = [];
  epochs = [];
  unanswered = new Set();
  handedFrom = undefined;
  store = watched(await openTestStore());
  rig = await createEngineRig({ clock, store });
  receiver = await startReceiver();
});

afterEach(async () => {
  failing = new Set();
  await rig.close();
  await receiver.close();
  await store.close();
});

/** The real store, with every call noted and some made to fail. */
function watched(inner: Store): Store {
  return new Proxy(inner, {
    get(target, name: keyof Store) {
      if (typeof target[name] !== 'function') return target[name];
      return (input: never) => {
        calls.push(name);
        if (failing.has(name)) return Promise.reject(refusal ?? new Error(`${name} fails`));
        const answer = (target[name] as (input: never) => Promise<unknown>)(input);
        if (name === 'heartbeat') ({ handedFrom } = input as { handedFrom?: string });
        if (unanswered.delete(name)) return answer.then(() => Promise.reject(new Error(`${name} was not answered`)));
        if (name === 'join') void answer.then((joined) => epochs.push((joined as { epoch: number }).epoch));
        return name === 'claim' && holding !== undefined ? holding.then(() => answer) : answer;
      };
    },
  });
}

/** A node whose clock is past the first one's lease, while the first one's stands still: a stopped process. */
async function nodeAfterTheLease(): Promise<Engine> {
  const second = rig.secondEngine({ clock: createManualClock(clock.now() + LEASE_MS + 1) });
  await second.start();
  return second;
}

function delivered(engine: Engine): Promise<void> {
  return new Promise((resolve) => {
    engine.on((event) => {
      if (event.kind === 'attempt' && event.attempt.decision.kind === 'delivered') resolve();
    });
  });
}

describe('hand-offs', () => {
  it('BUD-07 are over for the heartbeat when they are recorded, though the answer was lost', async () => {
    await rig.endpoint(receiver.url);
    unanswered.add('record');
    await rig.publish();
    await rig.event('trouble');
    const recordedAt = clock.now();
    await clock.advance(LEASE_MS);
    expect(handedFrom !== undefined && handedFrom > floorId('dlv', recordedAt)).toBe(true);
  });
});

describe('the direct path', () => {
  it('a message whose lane has room is sent without a second read of the store', async () => {
    await rig.endpoint(receiver.url);
    await rig.publish();
    await rig.attempts(1);
    const before = calls.length;
    await rig.publish();
    await rig.attempts(2);
    expect(calls.slice(before)).toEqual(['accept', 'record']);
  });

  it('ALL-01 publishes that arrive together share one commit, and none resolves before it', async () => {
    await rig.endpoint(receiver.url);
    await rig.publish();
    await rig.attempts(1);
    const before = calls.length;
    await Promise.all(Array.from({ length: 50 }, (_, n) => rig.publish({ n })));
    expect(calls.slice(before).filter((name) => name === 'accept')).toHaveLength(1);
  });

  it('ALL-01 a publish whose commit fails is refused and nothing is sent', async () => {
    await rig.endpoint(receiver.url);
    await rig.publish();
    await rig.attempts(1);
    failing = new Set(['accept']);
    await expect(rig.publish()).rejects.toThrow('accept fails');
    failing = new Set();
    await rig.publish();
    await rig.attempts(2);
    expect(receiver.arrivals).toHaveLength(2);
  });
});

describe('answers of the store that cross', () => {
  it('what is accepted while a claim is answered is not forgotten by that answer', async () => {
    await rig.endpoint(receiver.url, { maxInFlight: 1 });
    const answers: (() => void)[] = [];
    receiver.answer((response) => answers.push(() => response.writeHead(200).end()), 200);
    for (let n = 0; n < 8; n++) await rig.publish({ n });
    await receiver.arrived(1);
    let release = () => {};
    holding = new Promise((resolve) => {
      release = resolve;
    });
    const before = calls.length;
    rig.engine.wake();
    await expect.poll(() => calls.slice(before)).toContain('claim');
    // The lane is full and the claim has seen all that it has: this one is left to the store after that.
    await rig.publish({ n: 8 });
    release();
    holding = undefined;
    await clock.advance(0);
    answers[0]?.();
    await rig.attempts(9);
  });
});

describe('a lease', () => {
  it('BUD-07 a node that died loses its deliveries to another within the lease, counted as an interrupted attempt', async () => {
    await rig.endpoint(receiver.url);
    receiver.answer(() => {});
    const { message } = await rig.publish();
    await receiver.arrived(1);
    receiver.answer(200);
    const second = await nodeAfterTheLease();
    await delivered(second);
    const { items } = await store.listAttempts({ messageId: message.id, limit: 10, order: 'ascending' });
    expect(items.map(({ error, status }) => error ?? status)).toEqual(['interrupted', 200]);
  });

  it('BUD-07 a node that only stalled cannot overwrite what another did', async () => {
    await rig.endpoint(receiver.url);
    const answers: (() => void)[] = [];
    receiver.answer((response) => answers.push(() => response.writeHead(500).end()), 200);
    const { message } = await rig.publish();
    await receiver.arrived(1);
    await delivered(await nodeAfterTheLease());
    // The stalled node's answer comes late: it must change nothing.
    answers[0]?.();
    await clock.advance(100);
    const delivery = await rig.delivery(message.id);
    expect(delivery).toMatchObject({ state: 'delivered', attempts: 2 });
    expect(rig.events.filter(({ kind }) => kind === 'attempt')).toHaveLength(0);
  });

  it('ALL-02 BUD-07 what a fenced node had waiting is not sent by it any more', async () => {
    await rig.endpoint(receiver.url, { maxInFlight: 1 });
    const answers: (() => void)[] = [];
    receiver.answer((response) => answers.push(() => response.writeHead(200).end()), 200);
    const ids = [];
    for (let n = 0; n < 5; n++) ids.push((await rig.publish({ n })).message.id);
    await receiver.arrived(1);
    const second = await nodeAfterTheLease();
    await receiver.arrived(6);
    await clock.advance(3000);
    await rig.event('fenced');
    answers[0]?.();
    await clock.advance(5000);
    expect(receiver.arrivals).toHaveLength(6);
    for (const id of ids) expect((await rig.delivery(id)).state).toBe('delivered');
    await second.stop(0);
  });

  it('an attempt that a crash interrupted uses up none of the policy, and says that it may not have been sent', async () => {
    const once = { ...presets.quick.policy, schedule: { kind: 'explicit' as const, delaysMs: [] } };
    await rig.endpoint(receiver.url, { policy: once });
    receiver.answer(() => {});
    const { message } = await rig.publish();
    await receiver.arrived(1);
    receiver.answer(200);
    await delivered(await nodeAfterTheLease());
    expect(await rig.delivery(message.id)).toMatchObject({ state: 'delivered', attempts: 2, scheduleAttempts: 1 });
  });

  it('a fenced node joins again and goes on', async () => {
    await rig.endpoint(receiver.url);
    await store.leave({ epoch: epochs[0] ?? 0 });
    await clock.advance(3000);
    await rig.event('fenced');
    await rig.publish();
    await rig.attempts(1);
    expect(receiver.arrivals).toHaveLength(1);
  });
});

describe('a stop', () => {
  it('waits for what is in flight, gives the rest back, and leaves nothing leased', async () => {
    const answers: (() => void)[] = [];
    receiver.answer((response) => answers.push(() => response.writeHead(200).end()));
    await rig.endpoint(receiver.url, { maxInFlight: 2 });
    for (let n = 0; n < 10; n++) await rig.publish({ n });
    await receiver.arrived(2);
    const stopped = rig.engine.stop(60_000);
    for (const answer of answers) answer();
    await stopped;
    expect(await store.counts({ most: 10_000 })).toMatchObject({ leased: 0, pending: 8 });
    expect(receiver.arrivals).toHaveLength(2);
    await expect(rig.publish()).rejects.toMatchObject({ code: 'closed' });
  });

  it('cuts off what does not end in time, and the next start sends it again', async () => {
    await rig.endpoint(receiver.url);
    receiver.answer(() => {});
    const { message } = await rig.publish();
    await receiver.arrived(1);
    const stopped = rig.engine.stop(5000);
    await clock.advance(5000);
    await stopped;
    expect(await rig.delivery(message.id)).toMatchObject({ state: 'pending', attempts: 1 });
    receiver.answer(200);
    const second = rig.secondEngine();
    await second.start();
    await receiver.arrived(2);
  });
});

describe('a small node', () => {
  it('finds what a former process left, with fewer requests in flight than a lane gets to begin with', async () => {
    await rig.endpoint(receiver.url);
    await rig.engine.stop(0);
    const paused = rig.secondEngine({ maxInFlight: 1 });
    await paused.start();
    receiver.answer(() => {});
    for (let n = 0; n < 3; n++) {
      await paused.publish({ application: rig.application.id, eventType: 'a.b', payload: Buffer.from('{}') });
    }
    await paused.stop(0);
    receiver.answer(200);
    const next = rig.secondEngine({ maxInFlight: 1 });
    await next.start();
    await clock.advance(20_000);
    expect(await store.counts({ most: 10 })).toMatchObject({ pending: 0, leased: 0 });
    await next.stop(0);
  });
});

describe('a node that stalled beyond its lease', () => {
  it('ALL-02 starts nothing of what it holds before the store has said that it is still its own', async () => {
    await rig.engine.stop(0);
    const stalled = rig.secondEngine({ maxInFlight: 1 });
    await stalled.start();
    await rig.endpoint(receiver.url);
    const publish = () =>
      stalled.publish({ application: rig.application.id, eventType: 'a.b', payload: Buffer.from('{}') });
    let answerFirst = () => {};
    receiver.answer((response) => {
      answerFirst = () => response.end();
    }, 200);
    await publish();
    await receiver.arrived(1);
    await publish();
    failing = new Set(['heartbeat']);
    await clock.advance(LEASE_MS);
    answerFirst();
    await rig.store.counts({ most: 1 });
    await clock.advance(1000);
    expect(receiver.arrivals).toHaveLength(1);
    failing = new Set();
    await clock.advance(LEASE_MS);
    await receiver.arrived(2);
    await stalled.stop(0);
  });
});

describe('roles', () => {
  it('a node that only accepts sends nothing, and its messages are delivered by the next node that works', async () => {
    const accepting = rig.secondEngine({ takesWork: false });
    await accepting.start();
    await rig.engine.stop(0);
    const before = calls.length;
    await rig.endpoint(receiver.url);
    const published = await accepting.publish({
      application: rig.application.id,
      eventType: 'invoice.paid',
      payload: new TextEncoder().encode('{}'),
    });
    if (published.kind !== 'accepted') throw new Error(published.kind);
    await clock.advance(60_000);
    expect(receiver.arrivals).toEqual([]);
    expect((await rig.delivery(published.message.id)).state).toBe('pending');
    expect(calls.slice(before)).not.toContain('claim');
    const working = rig.secondEngine();
    const done = delivered(working);
    await working.start();
    await done;
    expect(receiver.arrivals).toHaveLength(1);
  });
});

describe('a store in trouble', () => {
  it('a delivery whose endpoint cannot be read waits for the store, and a stop does not wait for it', async () => {
    await rig.endpoint(receiver.url);
    await rig.publish();
    await rig.attempts(1);
    receiver.answer(500, 200);
    const { message } = await rig.publish();
    await rig.attempts(2);
    rig.engine.changed();
    failing = new Set(['get']);
    await clock.advance(6000);
    await rig.event('trouble');
    failing = new Set();
    await clock.advance(10_000);
    await rig.attempts(3);
    expect((await rig.delivery(message.id)).state).toBe('delivered');
    receiver.answer(500);
    await rig.publish();
    await rig.attempts(4);
    rig.engine.changed();
    failing = new Set(['get', 'record', 'heartbeat', 'leave']);
    await clock.advance(6000);
    await rig.engine.stop(0);
  });

  it.each([undefined, null, 'attempt', { on() {} }])(
    'ALL-06 %o is refused as a listener, and the engine goes on',
    async (listener) => {
      expect(() => rig.engine.on(listener as never)).toThrow('listener: must be a function');
      await rig.endpoint(receiver.url);
      await rig.publish();
      await rig.attempts(1);
      expect(rig.events.filter(({ kind }) => kind === 'trouble')).toEqual([]);
    },
  );

  it('a listener that throws harms nobody but itself', async () => {
    await rig.endpoint(receiver.url);
    rig.engine.on(() => {
      throw new Error('a bug of the listener');
    });
    await rig.publish();
    await rig.publish();
    await rig.attempts(2);
    await rig.engine.stop();
  });

  it('BUD-07 a claim without an answer may have leased something: the node joins again, and it is taken over', async () => {
    failing = new Set(['claim']);
    rig.engine.wake();
    await rig.event('trouble');
    failing = new Set();
    const joins = () => calls.filter((name) => name === 'join').length;
    const before = joins();
    await clock.advance(LEASE_MS / 4);
    expect(joins()).toBe(before + 1);
  });

  it('a store that says that nothing was stored fences nobody', async () => {
    failing = new Set(['claim']);
    refusal = new PosthornError('store_unavailable', 'the disk is full: nothing was stored', { nothingStored: true });
    rig.engine.wake();
    await rig.event('trouble');
    await clock.advance(2 * LEASE_MS);
    expect(calls).toContain('heartbeat');
    expect(calls.filter((name) => name === 'join')).toHaveLength(1);
    expect(rig.events.some(({ kind }) => kind === 'fenced')).toBe(false);
  });

  it('an outcome is kept and written when the store is back, without a second request', async () => {
    await rig.endpoint(receiver.url);
    await rig.publish();
    await rig.attempts(1);
    failing = new Set(['record']);
    const { message } = await rig.publish();
    await receiver.arrived(2);
    await rig.event('trouble');
    failing = new Set();
    await clock.advance(10_000);
    await rig.attempts(2);
    expect((await rig.delivery(message.id)).state).toBe('delivered');
    expect(receiver.arrivals).toHaveLength(2);
  });

  it('claims begin again when the store is back', async () => {
    await rig.endpoint(receiver.url);
    receiver.answer(500, 200);
    await rig.publish();
    await rig.attempts(1);
    failing = new Set(['claim']);
    await clock.advance(10_000);
    expect(receiver.arrivals).toHaveLength(1);
    failing = new Set();
    await clock.advance(10_000);
    await rig.attempts(2);
  });
});
