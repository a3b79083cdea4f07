import { describe, expect, it } from 'vitest';
import { type DeliveryRig, openDeliveryRig, TWO_TRIES } from './testing/delivery-rig.ts';

/** So many messages that died at the endpoint. */
async function openWithDead(count: number, endpoint: object = {}): Promise<DeliveryRig> {
  const rig = await openDeliveryRig();
  rig.receiver.answer(500, 'broken');
  await rig.endpoint(endpoint);
  for (let n = 0; n < count; n++) await rig.publish({ eventType: n === 0 ? 'first' : 'other', payload: { n } });
  await rig.attempts(2 * count);
  return rig;
}

async function deadIn(rig: DeliveryRig, query = ''): Promise<{ id: string; msgId: string }[]> {
  return (await rig.call('GET', `dead-letter?${query}`)).body.data;
}

describe('dead letters', () => {
  it('are listed with the last attempt, and shown one by one with all of them', async () => {
    await using rig = await openWithDead(2);
    const dead = await deadIn(rig);
    expect(dead).toHaveLength(2);
    expect(dead[0]).toMatchObject({
      state: 'dead',
      deadCause: 'exhausted',
      lastAttempt: { number: 2, responseStatusCode: 500, response: 'broken' },
    });
    expect(await deadIn(rig, 'event_types=first')).toHaveLength(1);
    expect(await deadIn(rig, 'cause=rejected')).toEqual([]);
    const one = await rig.call('GET', `dead-letter/${dead[0]?.id}`);
    expect(one.body.attempts).toHaveLength(2);
  });

  it('SUB-11 BUD-09 retried by hand, one leaves the queue with a full new schedule, its id and its bytes', async () => {
    await using rig = await openWithDead(1);
    const [dead] = await deadIn(rig);
    const release = rig.receiver.hold();
    const retried = await rig.call('POST', `dead-letter/${dead?.id}/retry`);
    expect(retried).toMatchObject({ status: 202, body: { id: dead?.id, trigger: 'manual', deadCause: null } });
    expect(await deadIn(rig)).toEqual([]);
    release();
    // The endpoint still fails: two more tries, as many as the schedule has, and it is dead again.
    await rig.attempts(4);
    expect(await deadIn(rig)).toMatchObject([{ id: dead?.id, attemptCount: 4, scheduleAttemptCount: 2 }]);

    rig.receiver.answer(200);
    await rig.call('POST', `dead-letter/${dead?.id}/retry`);
    await rig.attempts(5);
    expect(await deadIn(rig)).toEqual([]);
    const delivery = (await rig.call('GET', `delivery/${dead?.id}`)).body;
    expect(delivery).toMatchObject({ state: 'delivered', msgId: dead?.msgId, attemptCount: 5 });
    expect(delivery.attempts.map(({ number }: { number: number }) => number)).toEqual([1, 2, 3, 4, 5]);
    const { received } = rig.receiver;
    expect(new Set(received.map(({ body }) => body))).toEqual(new Set(['{"n":0}']));
    expect(new Set(received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([dead?.msgId]));
  });

  it('SUB-11 retried at a stopped endpoint, one is held until that is resumed, and then sent', async () => {
    await using rig = await openWithDead(1, { uid: 'ep', policy: { ...TWO_TRIES, onExhausted: 'fail' } });
    await rig.endpointIs('failed');
    const [dead] = await deadIn(rig);
    const retried = await rig.call('POST', `dead-letter/${dead?.id}/retry`);
    expect(retried).toMatchObject({ status: 202, body: { state: 'held' } });
    rig.receiver.answer(200);
    await rig.call('POST', 'app/acme/endpoint/ep/resume');
    await rig.attempts(3);
    expect((await rig.call('GET', `delivery/${dead?.id}`)).body.state).toBe('delivered');
  });

  it('are retried by filter, and counted', async () => {
    await using rig = await openWithDead(3, { uid: 'ep' });
    rig.receiver.answer(200);
    expect(await rig.call('POST', 'dead-letter/retry', { application: 'acme', eventTypes: ['first'] })).toMatchObject({
      status: 202,
      body: { count: 1 },
    });
    const none = await rig.call('POST', 'dead-letter/retry', { before: '2020-01-01T00:00:00Z' });
    expect(none.body).toEqual({ count: 0, skipped: 0, withoutEndpoint: 0, notDead: [], iterator: null, done: true });
    const rest = { application: 'acme', endpoint: 'ep', cause: 'exhausted' };
    expect((await rig.call('POST', 'dead-letter/retry', rest)).body).toMatchObject({ count: 2 });
    await rig.attempts(9);
    expect(await deadIn(rig)).toEqual([]);
  });

  it('are given up one by one or by filter, and the reason is kept', async () => {
    await using rig = await openWithDead(3);
    const [one] = await deadIn(rig, 'event_types=first');
    const discarded = await rig.call('POST', `dead-letter/${one?.id}/discard`, { reason: 'a test order' });
    expect(discarded).toMatchObject({ status: 200, body: { state: 'cancelled' } });
    expect(discarded.body.reason).toContain('a test order');
    const all = await rig.call('POST', 'dead-letter/discard', { filter: { all: true }, reason: 'all are tests' });
    expect(all).toMatchObject({ status: 200, body: { count: 2 } });
    expect(await deadIn(rig)).toEqual([]);
    expect((await rig.call('GET', 'delivery?state=cancelled')).body.data).toHaveLength(3);
  });

  it('ALL-06 are not touched by bad input, which is told what is wrong', async () => {
    await using rig = await openWithDead(1);
    const [dead] = await deadIn(rig);
    for (const [path, body, loc] of [
      ['dead-letter/retry', { endpont: 'ep_1' }, ['body', 'endpont']],
      ['dead-letter/retry', { cause: 'bad luck' }, ['body', 'cause']],
      ['dead-letter/retry', { before: 'soon' }, ['body', 'before']],
      ['dead-letter/discard', { reason: 'x' }, ['body', 'filter']],
      ['dead-letter/discard', { filter: { aplication: 'a' }, reason: 'x' }, ['body', 'filter', 'aplication']],
      ['dead-letter/retry', {}, ['body']],
      ['dead-letter/retry', { all: true, application: 'acme' }, ['body', 'application']],
      ['dead-letter/discard', { filter: {}, reason: 'x' }, ['body', 'filter']],
      ['dead-letter/discard', { filter: { all: false }, reason: 'x' }, ['body', 'filter']],
      ['dead-letter/discard', { filter: { all: true }, reason: ' ' }, ['body', 'reason']],
      [`dead-letter/${dead?.id}/discard`, {}, ['body', 'reason']],
    ] as const) {
      const answer = await rig.call('POST', path, body);
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc }] } });
    }
    const misspelt = await rig.call('POST', 'dead-letter/retry', { endpont: 'ep_1' });
    expect(misspelt.body.detail[0].msg).toContain('did you mean "endpoint"?');
    expect((await rig.call('POST', 'dead-letter/retry', { application: 'nobody' })).status).toBe(404);
    expect((await rig.call('POST', 'dead-letter/dlv_x/retry')).status).toBe(404);
    expect(await deadIn(rig)).toHaveLength(1);

    await rig.call('POST', `dead-letter/${dead?.id}/discard`, { reason: 'enough' });
    const gone = await rig.call('POST', `dead-letter/${dead?.id}/retry`);
    expect(gone).toMatchObject({ status: 404, body: { detail: expect.stringContaining('cancelled') } });
  });

  it("are out of reach for another application's token, one by one and by filter", async () => {
    await using rig = await openWithDead(1);
    const [dead] = await deadIn(rig);
    const { record } = await rig.resources.applications.create({ name: 'Other', uid: 'other' });
    const { token } = await rig.resources.tokens.create({ name: 't', scope: 'application', applicationId: record.id });
    const as = { token };
    expect((await rig.call('GET', 'dead-letter', undefined, as)).body.data).toEqual([]);
    expect((await rig.call('GET', `dead-letter/${dead?.id}`, undefined, as)).status).toBe(404);
    expect((await rig.call('POST', `dead-letter/${dead?.id}/retry`, undefined, as)).status).toBe(404);
    expect((await rig.call('POST', 'dead-letter/retry', {}, as)).status).toBe(422);
    expect((await rig.call('POST', 'dead-letter/retry', { all: true }, as)).body).toMatchObject({ count: 0 });
    expect((await rig.call('POST', 'dead-letter/retry', { application: 'acme' }, as)).status).toBe(404);
    const all = await rig.call('POST', 'dead-letter/discard', { filter: { all: true }, reason: 'x' }, as);
    expect(all.body).toMatchObject({ count: 0 });
    expect(await deadIn(rig)).toHaveLength(1);
  });
});
