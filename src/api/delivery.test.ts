import { describe, expect, it } from 'vitest';
import { openDeliveryRig } from './testing/delivery-rig.ts';

describe('deliveries', () => {
  it('ALL-05 shows a delivery with every attempt, every decision and the reason for its state', async () => {
    await using rig = await openDeliveryRig();
    rig.receiver.answer(500, 'no');
    const endpoint = await rig.endpoint();
    const message = await rig.publish();
    await rig.attempts(2);
    const { data } = (await rig.call('GET', `delivery?message=${message.id}`)).body;
    const { id: applicationId } = await rig.resources.applications.get('acme');
    expect(data).toEqual([
      {
        id: expect.stringMatching(/^dlv_/),
        applicationId,
        msgId: message.id,
        endpointId: endpoint.id,
        eventType: 'invoice.paid',
        state: 'dead',
        reason: expect.stringMatching(/./),
        trigger: 'scheduled',
        attemptCount: 2,
        scheduleAttemptCount: 2,
        nextAttempt: null,
        deadCause: 'exhausted',
        deadAt: expect.stringMatching(/Z$/),
        fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
        lastError: 'HTTP 500: no',
        createdAt: expect.stringMatching(/Z$/),
        updatedAt: expect.stringMatching(/Z$/),
      },
    ]);
    const detail = await rig.call('GET', `delivery/${data[0].id}`);
    expect(detail.body).toMatchObject(data[0]);
    expect(detail.body.attempts).toMatchObject([
      { number: 1, response: 'no', decision: { kind: 'retry', delayMs: 10, reason: expect.stringMatching(/./) } },
      { number: 2, response: 'no', decision: { kind: 'dead', cause: 'exhausted', reason: expect.stringMatching(/./) } },
    ]);
  });

  it('lists them by application, endpoint, message, state, event type and date', async () => {
    await using rig = await openDeliveryRig();
    const endpoint = await rig.endpoint({ uid: 'mine' });
    await rig.publish({ eventId: 'e-1' });
    await rig.publish({ eventType: 'user.gone' });
    await rig.attempts(2);
    const count = async (query: string) => (await rig.call('GET', `delivery?${query}`)).body.data.length;
    expect(await count('')).toBe(2);
    expect(await count('application=acme&endpoint=mine')).toBe(2);
    expect(await count(`endpoint=${endpoint.id}&state=delivered`)).toBe(2);
    expect(await count('state=dead,pending')).toBe(0);
    expect(await count('application=acme&message=e-1')).toBe(1);
    expect(await count('event_types=user.gone')).toBe(1);
    expect(await count('before=2020-01-01T00:00:00Z')).toBe(0);
    expect(await count('after=2020-01-01T00:00:00Z&limit=1')).toBe(1);
  });

  it('ALL-06 finds an endpoint by its uid within its application, and says what to do about one it cannot find', async () => {
    await using rig = await openDeliveryRig();
    const { id } = await rig.endpoint({ uid: 'mine' });
    await rig.publish();
    await rig.attempts(1);
    const [{ applicationId }] = (await rig.call('GET', 'delivery')).body.data;
    const { token } = await rig.resources.tokens.create({ name: 'own', scope: 'application', applicationId });
    const get = (query: string, options = {}) => rig.call('GET', `delivery?${query}`, undefined, options);
    expect((await get('endpoint=mine', { token })).body.data).toHaveLength(1);
    for (const path of ['delivery', 'dead-letter']) {
      for (const endpoint of ['mine', 'ep_unknown']) {
        expect(await rig.call('GET', `${path}?endpoint=${endpoint}`)).toMatchObject({
          status: 404,
          body: { code: 'not_found', detail: expect.stringContaining('name its application or its source too') },
        });
      }
      expect((await rig.call('GET', `${path}?application=acme&endpoint=other`)).status).toBe(404);
    }
    expect((await rig.call('POST', 'dead-letter/retry', { endpoint: 'mine' })).status).toBe(404);

    await rig.call('DELETE', 'app/acme/endpoint/mine');
    expect((await get(`endpoint=${id}`)).body.data).toHaveLength(1);
    expect((await get(`application=acme&endpoint=${id}`)).body.data).toHaveLength(1);
    const other = await rig.resources.applications.create({ name: 'Other', uid: 'other' });
    const foreign = await rig.resources.tokens.create({
      name: 'foreign',
      scope: 'application',
      applicationId: other.record.id,
    });
    expect((await get(`endpoint=${id}`, { token: foreign.token })).status).toBe(404);
  });

  it('ALL-06 shows a token of one application only its own, and tells bad and unknown input apart', async () => {
    await using rig = await openDeliveryRig();
    await rig.endpoint();
    await rig.publish();
    await rig.attempts(1);
    const [delivery] = (await rig.call('GET', 'delivery')).body.data;
    const other = await rig.resources.applications.create({ name: 'Other', uid: 'other' });
    const tokenOf = async (name: string, applicationId: string) =>
      (await rig.resources.tokens.create({ name, scope: 'application', applicationId })).token;
    const foreign = await tokenOf('foreign', other.record.id);
    const own = await tokenOf('own', delivery.applicationId);
    const get = (path: string, token: string) => rig.call('GET', path, undefined, { token });

    expect((await get('delivery', foreign)).body.data).toEqual([]);
    expect((await get('delivery?application=other', foreign)).status).toBe(200);
    expect((await get('delivery?application=acme', foreign)).status).toBe(404);
    expect((await get(`delivery/${delivery.id}`, foreign)).status).toBe(404);
    expect((await get('delivery', own)).body.data).toHaveLength(1);
    expect((await get(`delivery/${delivery.id}`, own)).status).toBe(200);

    expect((await rig.call('GET', 'delivery/dlv_x')).body).toMatchObject({ code: 'not_found' });
    expect((await rig.call('GET', 'delivery?application=nobody')).status).toBe(404);
    const bad = await rig.call('GET', 'delivery?state=lost');
    expect(bad).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', 'state'], msg: expect.stringMatching(/^must be one of pending, /) }] },
    });
  });
});
