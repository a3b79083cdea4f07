import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { presets } from '../policy/index.ts';
import { createEngineRig, type EngineRig, LONG_LEASE_MS, TEST_SECRET } from '../testing/engine-rig.ts';
import { createManualClock, type ManualClock } from '../testing/manual-clock.ts';
import { type ScriptedReceiver, startReceiver } from '../testing/scripted-receiver.ts';

let clock: ManualClock;
let rig: EngineRig;
let receiver: ScriptedReceiver;

beforeEach(async () => {
  clock = createManualClock();
  rig = await createEngineRig({ clock, leaseMs: LONG_LEASE_MS });
  receiver = await startReceiver();
});

afterEach(async () => {
  await rig.close();
  await receiver.close();
});

describe('a delivery', () => {
  it('ALL-02 arrives once, signed, with its exact bytes, and is not sent again', async () => {
    const endpoint = await rig.endpoint(receiver.url, { headers: { 'X-Customer': 'acme' } });
    const { message } = await rig.publish({ amount: 100, note: 'früh' });
    await rig.attempts(1);

    const [arrival] = receiver.arrivals;
    expect(arrival?.body).toEqual(Buffer.from(JSON.stringify({ amount: 100, note: 'früh' })));
    expect(arrival?.headers).toMatchObject({
      'webhook-id': message.id,
      'webhook-timestamp': String(clock.now() / 1000),
      'x-webhook-retry': '0',
      'x-customer': 'acme',
      'content-type': 'application/json',
    });
    const delivery = await rig.delivery(message.id);
    expect(delivery).toMatchObject({ state: 'delivered', attempts: 1, destinationId: endpoint.id });
    await clock.advance(600_000);
    expect(receiver.arrivals).toHaveLength(1);
  });

  it('SPI-11 BUD-09 is retried with the same id and bytes, a fresh timestamp, signature and retry count', async () => {
    await rig.endpoint(receiver.url);
    receiver.answer(500, 200);
    await rig.publish({ n: 1 });
    await rig.attempts(1);
    await clock.advance(6000);
    await rig.attempts(2);

    const [first, second] = receiver.arrivals;
    expect(second?.body).toEqual(first?.body);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.headers['webhook-timestamp']).not.toBe(first?.headers['webhook-timestamp']);
    expect(second?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature']);
    expect(second?.headers['x-webhook-signature']).toBe(second?.headers['webhook-signature']);
    expect([first, second].map((arrival) => arrival?.headers['x-webhook-retry'])).toEqual(['0', '1']);
  });

  it('is verified by the Standard Webhooks library when sent at the real time', async () => {
    const { systemClock } = await import('../clock.ts');
    const now = await createEngineRig({ clock: systemClock });
    await now.endpoint(receiver.url);
    await now.publish({ n: 1 });
    await now.attempts(1);
    const [arrival] = receiver.arrivals;
    const verified = new Webhook(TEST_SECRET).verify(
      arrival?.body.toString() ?? '',
      arrival?.headers as Record<string, string>,
    );
    expect(verified).toEqual({ n: 1 });
    await now.close();
  });

  it('SPI-01 follows the schedule to its end and is then dead, never tried again by itself', {
    timeout: 120_000,
  }, async () => {
    await rig.endpoint(receiver.url, { policy: { ...presets['public-api'].policy, jitter: { kind: 'none' } } });
    receiver.answer(500);
    const { message } = await rig.publish();
    for (const [index, seconds] of [5, 25, 125, 625, 3125].entries()) {
      await rig.attempts(index + 1);
      await clock.advance(seconds * 1000 - 1);
      expect(receiver.arrivals).toHaveLength(index + 1);
      await clock.advance(1);
    }
    await rig.attempts(6);
    const delivery = await rig.delivery(message.id);
    expect(delivery).toMatchObject({ state: 'dead', deadCause: 'exhausted', attempts: 6 });
    const { items } = await rig.store.listAttempts({ messageId: message.id, limit: 10, order: 'ascending' });
    expect(items.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(items.every(({ decision }) => decision.reason !== '')).toBe(true);
  });

  it('SPI-03 waits as long as a 429 asks', async () => {
    await rig.endpoint(receiver.url);
    receiver.answer((response) => response.writeHead(429, { 'retry-after': '77' }).end(), 200);
    const { message } = await rig.publish();
    await rig.attempts(1);
    await clock.advance(76_900);
    expect(receiver.arrivals).toHaveLength(1);
    await clock.advance(200);
    await rig.attempts(2);
    expect((await rig.delivery(message.id)).state).toBe('delivered');
  });

  it('SPI-04 is dead at once after a 404, and the endpoint goes on', async () => {
    await rig.endpoint(receiver.url);
    receiver.answer(404, 200);
    const rejected = await rig.publish();
    await rig.attempts(1);
    const next = await rig.publish();
    await rig.attempts(2);
    expect(await rig.delivery(rejected.message.id)).toMatchObject({ state: 'dead', deadCause: 'rejected' });
    expect((await rig.delivery(next.message.id)).state).toBe('delivered');
  });

  it('goes to every endpoint whose event types and channels it fits, and to no other', async () => {
    const all = await rig.endpoint(`${receiver.url}all`);
    const typed = await rig.endpoint(`${receiver.url}typed`, { eventTypes: ['invoice.paid'] });
    await rig.endpoint(`${receiver.url}other-type`, { eventTypes: ['user.created'] });
    const channel = await rig.endpoint(`${receiver.url}channel`, { channels: ['eu'] });
    await rig.endpoint(`${receiver.url}other-channel`, { channels: ['us'] });
    const { message } = await rig.publish({}, { channels: ['eu', 'test'] });
    await rig.attempts(3);
    const { items } = await rig.store.listDeliveries({ messageId: message.id, limit: 10, order: 'ascending' });
    expect(items.map(({ destinationId }) => destinationId).sort()).toEqual([all.id, typed.id, channel.id].sort());
  });
});

describe('an endpoint', () => {
  it('SPI-06 SPI-08 SPI-09 fails on exhaustion, holds what comes, and on resume gets it all, oldest first', async () => {
    const schedule = { kind: 'explicit' as const, delaysMs: [1000, 2000] };
    const policy = { ...presets['public-api'].policy, schedule };
    // One at a time: what is under way at the same time may arrive in any order.
    const endpoint = await rig.endpoint(receiver.url, { policy, maxInFlight: 1 });
    receiver.answer(500);
    await rig.publish({ n: 0 });
    // Each retry is due only once the attempt before it is recorded.
    for (const count of [1, 2, 3]) {
      await rig.attempts(count);
      await clock.advance(3000);
    }
    await rig.event('endpoint', ({ health }) => health.status === 'failed');

    const held = [];
    for (let n = 1; n <= 20; n++) held.push((await rig.publish({ n })).message.id);
    await clock.advance(600_000);
    const before = receiver.arrivals.length;
    expect((await rig.delivery(held[0] ?? '')).state).toBe('held');

    receiver.answer(200);
    const health = await rig.store.setStatus({
      endpointId: endpoint.id,
      status: 'active',
      reason: '',
      now: clock.now(),
    });
    expect(health).toMatchObject({ status: 'active', failureCount: 0 });
    rig.engine.changed(rig.application.id);
    rig.engine.wake();
    await receiver.arrived(before + 20);
    const order = receiver.arrivals.slice(before).map(({ body }) => (JSON.parse(body.toString()) as { n: number }).n);
    expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });

  it('SPI-08 after a resume gets a few at a time, and no more than its own limits allow', async () => {
    const endpoint = await rig.endpoint(receiver.url, { maxInFlight: 2 });
    const stop = { endpointId: endpoint.id, reason: 'maintenance', now: clock.now() };
    await rig.store.setStatus({ ...stop, status: 'paused' });
    rig.engine.changed(rig.application.id);
    for (let n = 0; n < 50; n++) await rig.publish({ n });
    const answers: (() => void)[] = [];
    receiver.answer((response) => answers.push(() => response.writeHead(200).end()));
    await rig.store.setStatus({ ...stop, status: 'active' });
    rig.engine.changed(rig.application.id);
    rig.engine.wake();
    await receiver.arrived(2);
    await clock.advance(1000);
    expect(receiver.arrivals).toHaveLength(2);
    receiver.answer(200);
    for (const answer of answers) answer();
    await rig.attempts(50);
    expect(receiver.mostAtOnce).toBe(2);
  });

  it('counts failures and forgets them with a success', async () => {
    const endpoint = await rig.endpoint(receiver.url);
    receiver.answer(500, 500, 200);
    await rig.publish();
    await rig.attempts(1);
    await clock.advance(6000);
    await rig.attempts(2);
    const degraded = await rig.store.get({ kind: 'endpoint', idOrName: endpoint.id });
    expect(degraded?.health).toMatchObject({ status: 'active', failureCount: 2 });
    await clock.advance(30_000);
    await rig.attempts(3);
    const recovered = await rig.store.get({ kind: 'endpoint', idOrName: endpoint.id });
    expect(recovered?.health.failureCount).toBe(0);
  });

  it('that answers 410 is disabled, and its messages are kept', async () => {
    const endpoint = await rig.endpoint(receiver.url);
    receiver.answer(410);
    await rig.publish();
    await rig.event('endpoint', ({ health }) => health.status === 'disabled');
    const { message } = await rig.publish();
    expect((await rig.delivery(message.id)).state).toBe('held');
    expect(receiver.arrivals).toHaveLength(1);
    expect((await rig.store.get({ kind: 'endpoint', idOrName: endpoint.id }))?.health.reason).not.toBe('');
  });

  it('that is deleted gets nothing more, and what was waiting is cancelled', async () => {
    const endpoint = await rig.endpoint(receiver.url);
    receiver.answer(500);
    const { message } = await rig.publish();
    await rig.attempts(1);
    await rig.store.remove({ kind: 'endpoint', id: endpoint.id, now: clock.now() });
    rig.engine.changed(rig.application.id);
    rig.engine.wake();
    await clock.advance(600_000);
    expect(receiver.arrivals).toHaveLength(1);
    expect((await rig.delivery(message.id)).state).toBe('cancelled');
  });

  it('with a rate limit gets no more a second than it asks for', async () => {
    await rig.endpoint(receiver.url, { rateLimit: 5 });
    for (let n = 0; n < 30; n++) await rig.publish({ n });
    await rig.attempts(5);
    expect(receiver.arrivals).toHaveLength(5);
    for (let second = 1; second <= 5; second++) {
      for (let tick = 0; tick < 5; tick++) {
        await clock.advance(200);
        await rig.attempts(Math.min(30, 5 + (second - 1) * 5 + tick + 1));
      }
      expect(receiver.arrivals.length).toBeLessThanOrEqual(5 + second * 5);
    }
    await rig.attempts(30);
  });
});

describe('fairness', () => {
  it('ALL-03 an endpoint that never answers holds a few slots and delays nobody', async () => {
    const dead = await startReceiver(() => {});
    await rig.endpoint(dead.url);
    for (let n = 0; n < 300; n++) await rig.publish({ n });
    await rig.endpoint(receiver.url, { eventTypes: ['user.created'] });
    for (let n = 0; n < 50; n++) await rig.publish({ n }, { eventType: 'user.created' });
    await receiver.arrived(50);
    expect(dead.mostAtOnce).toBeLessThanOrEqual(4);
    await dead.close();
  });

  it('an endpoint never has more requests at once than its own limit', async () => {
    let open = 0;
    receiver.answer((response) => {
      open += 1;
      setTimeout(() => response.writeHead(200).end(), 2);
    });
    await rig.endpoint(receiver.url, { maxInFlight: 3 });
    await Promise.all(Array.from({ length: 60 }, (_, n) => rig.publish({ n })));
    await rig.attempts(60);
    expect(open).toBe(60);
    expect(receiver.mostAtOnce).toBeLessThanOrEqual(3);
  });

  it('a backlog beyond memory is worked off completely', async () => {
    await rig.endpoint(receiver.url);
    await Promise.all(Array.from({ length: 1500 }, (_, n) => rig.publish({ n })));
    await rig.attempts(1500);
    const numbers = new Set(receiver.arrivals.map(({ body }) => body.toString()));
    expect(numbers.size).toBe(1500);
    expect(await rig.store.counts({ most: 10_000 })).toMatchObject({ pending: 0, leased: 0, dead: 0 });
  });
});

describe('the node as a whole', () => {
  it('ALL-03 keeps slots for endpoints that work, however many are dead', async () => {
    await rig.close();
    rig = await createEngineRig({ clock, maxInFlight: 64 });
    const dead = await startReceiver(() => {});
    await rig.endpoint(receiver.url, { eventTypes: ['healthy'] });
    await rig.publish({}, { eventType: 'healthy' });
    await rig.attempts(1);
    for (let n = 0; n < 80; n++) await rig.endpoint(`${dead.url}${n}`, { eventTypes: ['dead'] });
    for (let n = 0; n < 5; n++) await rig.publish({ n }, { eventType: 'dead' });
    await dead.arrived(60);
    for (let n = 0; n < 40; n++) await rig.publish({ n }, { eventType: 'healthy' });
    await rig.attempts(41);
    expect(dead.mostAtOnce).toBe(60);
    await dead.close();
  });

  it('ALL-03 goes on for others when endpoints that were fast fall silent with all they may have', async () => {
    await rig.close();
    rig = await createEngineRig({ clock, maxInFlight: 64, maxInFlightPerEndpoint: 16 });
    const silent = await startReceiver();
    for (let n = 0; n < 6; n++) await rig.endpoint(`${silent.url}${n}`, { eventTypes: ['silent'] });
    for (let n = 0; n < 30; n++) await rig.publish({ n }, { eventType: 'silent' });
    await rig.attempts(180);
    silent.answer(() => {});
    for (let n = 0; n < 60; n++) await rig.publish({ n }, { eventType: 'silent' });
    await rig.endpoint(receiver.url, { eventTypes: ['healthy'] });
    for (let n = 0; n < 30; n++) await rig.publish({ n }, { eventType: 'healthy' });
    await receiver.arrived(30);
    await silent.close();
  });

  it('ALL-03 finds work for a busy endpoint behind any number of full lanes', async () => {
    const dead = await startReceiver(() => {});
    for (let n = 0; n < 100; n++) await rig.endpoint(`${dead.url}${n}`, { eventTypes: ['dead'] });
    for (let n = 0; n < 32; n++) await rig.publish({ n }, { eventType: 'dead' });
    await rig.endpoint(receiver.url, { eventTypes: ['healthy'] });
    await Promise.all(Array.from({ length: 300 }, (_, n) => rig.publish({ n }, { eventType: 'healthy' })));
    await receiver.arrived(300);
    await dead.close();
  });

  it('leaves large payloads in the store instead of gathering them in memory', async () => {
    const dead = await startReceiver(() => {});
    for (let n = 0; n < 10; n++) await rig.endpoint(`${dead.url}${n}`);
    const payload = new TextEncoder().encode(JSON.stringify({ filler: 'x'.repeat(1024 * 1024) }));
    for (let n = 0; n < 20; n++) await rig.publish({}, { payload });
    const { leased, pending } = await rig.store.counts({ most: 1000 });
    expect(leased + pending).toBe(200);
    expect(leased).toBeLessThanOrEqual(64 + 10);
    await dead.close();
  });

  it('holds an endpoint to its rate also for what it finds waiting at a start', async () => {
    await rig.endpoint(receiver.url, { rateLimit: 5 });
    for (let n = 0; n < 30; n++) await rig.publish({ n });
    await rig.attempts(5);
    await rig.engine.stop(0);
    const second = rig.secondEngine();
    await second.start();
    await receiver.arrived(10);
    await clock.advance(0);
    expect(receiver.arrivals).toHaveLength(10);
    await clock.advance(400);
    await receiver.arrived(12);
  });
});

describe('what an endpoint is given', () => {
  it('BUL-04 no header of its own follows a redirect to another host', async () => {
    const elsewhere = await startReceiver();
    receiver.answer((response) => response.writeHead(307, { location: elsewhere.url }).end());
    await rig.endpoint(receiver.url, { policy: 'quick', headers: { 'X-Api-Key': 's3cret' } });
    await rig.publish({ n: 1 });
    await rig.attempts(1);
    expect(receiver.arrivals[0]?.headers['x-api-key']).toBe('s3cret');
    expect(elsewhere.arrivals[0]?.body).toEqual(Buffer.from('{"n":1}'));
    expect(elsewhere.arrivals[0]?.headers['x-api-key']).toBeUndefined();
    await elsewhere.close();
  });

  it('a secret that cannot be opened fails its own deliveries and nobody else’s', async () => {
    const broken = await rig.endpoint(`${receiver.url}broken`, { secrets: [{ key: 'box1:AAAA', createdAt: 0 }] });
    await rig.endpoint(receiver.url);
    const { message } = await rig.publish();
    await rig.attempts(2);
    expect(receiver.arrivals).toHaveLength(1);
    const failed = await rig.event('attempt', ({ attempt }) => attempt.destinationId === broken.id);
    expect(failed.attempt).toMatchObject({ messageId: message.id, error: 'unexpected', decision: { kind: 'retry' } });
  });
});

describe('a policy of its own', () => {
  it('SPI-14 on an endpoint wins over the default', async () => {
    const policy = { ...presets.quick.policy, jitter: { kind: 'none' as const } };
    await rig.endpoint(receiver.url, { policy });
    receiver.answer(500, 200);
    await rig.publish();
    await rig.attempts(1);
    await clock.advance(1000);
    await rig.attempts(2);
    expect(receiver.arrivals).toHaveLength(2);
  });
});
