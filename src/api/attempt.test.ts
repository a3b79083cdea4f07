import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { openDeliveryRig } from './testing/delivery-rig.ts';
import type { Received } from './testing/receiver.ts';

describe('attempts', () => {
  it('ALL-05 shows each attempt by endpoint, by message and alone, with the decision and its reason', async () => {
    await using rig = await openDeliveryRig();
    rig.receiver.answer(503, 'busy');
    const endpoint = await rig.endpoint();
    const message = await rig.publish({ eventId: 'e-1', channels: ['c'], tags: ['t'] });
    await rig.attempts(2);

    const byMessage = (await rig.call('GET', 'app/acme/attempt/msg/e-1')).body;
    expect(byMessage.data).toHaveLength(2);
    expect(byMessage.data[0]).toEqual({
      id: expect.stringMatching(/^atmpt_/),
      msgId: message.id,
      endpointId: endpoint.id,
      deliveryId: expect.stringMatching(/^dlv_/),
      number: 2,
      url: rig.receiver.url,
      response: 'busy',
      responseTruncated: false,
      responseStatusCode: 503,
      responseDurationMs: expect.any(Number),
      error: null,
      status: 2,
      statusText: 'fail',
      triggerType: 0,
      timestamp: expect.stringMatching(/Z$/),
      decision: { kind: 'dead', cause: 'exhausted', reason: expect.any(String) },
    });
    expect(byMessage.data[1].decision).toMatchObject({ kind: 'retry', delayMs: 10, source: 'schedule' });
    const byEndpoint = (await rig.call('GET', `app/acme/attempt/endpoint/${endpoint.id}`)).body;
    expect(byEndpoint.data).toEqual(byMessage.data);
    const one = await rig.call('GET', `app/acme/msg/${message.id}/attempt/${byMessage.data[0].id}`);
    expect(one).toMatchObject({ status: 200, body: byMessage.data[0] });
    expect((await rig.call('GET', `app/acme/msg/${message.id}/attempt`)).body.data).toEqual(byMessage.data);

    const list = async (query: string) =>
      (await rig.call('GET', `app/acme/attempt/endpoint/${endpoint.id}?${query}`)).body.data;
    expect((await list('with_content=false'))[0].response).toBe('{}');
    expect((await list('with_msg=true'))[0].msg).toMatchObject({ id: message.id, payload: { n: 1 } });
    expect(await list('status=2&status_code_class=500')).toHaveLength(2);
    for (const nothing of ['status=0', 'status=1', 'status_code_class=200', 'channel=x', 'tag=x', 'event_types=x']) {
      expect(await list(nothing)).toEqual([]);
    }
    expect(await list('channel=c&tag=t&event_types=invoice.paid')).toHaveLength(2);
    expect(await list('limit=1&channel=c')).toHaveLength(1);
    const other = await rig.endpoint();
    expect((await rig.call('GET', `app/acme/attempt/msg/e-1?endpoint_id=${other.id}`)).body.data).toEqual([]);
    expect((await rig.call('GET', `app/acme/attempt/endpoint/${endpoint.id}?status=7`)).status).toBe(422);
  });

  it('shows attempts without an answer under class 0, with the kind of failure', async () => {
    await using rig = await openDeliveryRig();
    const endpoint = await rig.endpoint({ url: 'http://127.0.0.1:1/' });
    await rig.publish();
    await rig.attempts(1);
    const { body } = await rig.call('GET', `app/acme/attempt/endpoint/${endpoint.id}?status_code_class=0`);
    expect(body.data[0]).toMatchObject({ responseStatusCode: 0, error: 'connection_refused', status: 2 });
  });

  it('shows how far the messages of an endpoint and the endpoints of a message are', async () => {
    await using rig = await openDeliveryRig();
    const endpoint = await rig.endpoint();
    const good = await rig.publish();
    await rig.attempts(1);
    rig.receiver.answer(500);
    const bad = await rig.publish({ eventType: 'user.gone' });
    await rig.attempts(3);
    const waiting = { schedule: { kind: 'explicit', delaysMs: [3_600_000] } };
    const slow = await rig.endpoint({ policy: waiting });
    const late = await rig.publish({ channels: ['c'] });
    await rig.attempts(6);

    const list = async (query: string) => (await rig.call('GET', `app/acme/endpoint/${endpoint.id}/msg?${query}`)).body;
    const { data } = await list('');
    expect(data.map(({ id }: { id: string }) => id)).toEqual([late.id, bad.id, good.id]);
    expect(data[2]).toMatchObject({ status: 0, statusText: 'success', nextAttempt: null, payload: { n: 1 } });
    expect(data[1]).toMatchObject({ status: 2, statusText: 'fail', eventType: 'user.gone' });
    expect((await list('status=0')).data).toMatchObject([{ id: good.id }]);
    expect((await list('status=2')).data).toHaveLength(2);
    expect((await list('channel=c')).data).toMatchObject([{ id: late.id }]);
    expect((await list('with_content=false')).data[0].payload).toEqual({});
    const page = await list('limit=2');
    expect(page).toMatchObject({ done: false, iterator: expect.stringMatching(/^dlv_/) });
    expect((await list(`limit=2&iterator=${page.iterator}`)).data).toMatchObject([{ id: good.id }]);

    const sending = (await rig.call('GET', `app/acme/endpoint/${slow.id}/msg?status=3`)).body;
    expect(sending.data).toMatchObject([{ id: late.id, statusText: 'sending', nextAttempt: expect.any(String) }]);
    const destinations = (await rig.call('GET', `app/acme/msg/${late.id}/endpoint`)).body;
    expect(destinations.data).toMatchObject([
      { id: slow.id, status: 3, deleted: false, url: rig.receiver.url },
      { id: endpoint.id, status: 2, disabled: false },
    ]);
    await rig.call('DELETE', `app/acme/endpoint/${endpoint.id}`);
    const after = (await rig.call('GET', `app/acme/msg/${late.id}/endpoint`)).body;
    expect(after.data[1]).toMatchObject({ id: endpoint.id, deleted: true, disabled: true, url: rig.receiver.url });
  });
});

describe('resend', () => {
  it('BUD-09 sends a delivered message again under its own id, with its exact bytes and a new signature', async () => {
    let laterMs = 0;
    await using rig = await openDeliveryRig({ clock: { ...systemClock, now: () => systemClock.now() + laterMs } });
    const endpoint = await rig.endpoint();
    const message = await rig.publish();
    await rig.attempts(1);
    laterMs = 2000;
    const answer = await rig.call('POST', `app/acme/msg/${message.id}/endpoint/${endpoint.id}/resend`);
    expect(answer).toMatchObject({ status: 202, body: {} });
    const [first, second] = await rig.receiver.until(2);
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-id']).toBe(message.id);
    const seconds = (received: Received | undefined) => Number(received?.headers['webhook-timestamp']);
    expect(seconds(second)).toBeGreaterThanOrEqual(seconds(first) + 2);
    const secret = await rig.resources.endpoints.getSecret('acme', endpoint.id);
    const verifier = new Webhook(secret);
    for (const received of [first, second]) {
      verifier.verify(received?.body ?? '', received?.headers as Record<string, string>);
    }
    expect(second?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature']);
    await rig.attempts(2);
    const { data } = (await rig.call('GET', `app/acme/attempt/msg/${message.id}`)).body;
    expect(data[0]).toMatchObject({ number: 2, triggerType: 1, status: 0, deliveryId: data[1].deliveryId });
  });

  it('reaches an endpoint that the message never went to, whatever its filters', async () => {
    await using rig = await openDeliveryRig();
    const message = await rig.publish({ eventId: 'e' });
    const endpoint = await rig.endpoint({ channels: ['other'], uid: 'mine' });
    expect((await rig.call('POST', 'app/acme/msg/e/endpoint/mine/resend')).status).toBe(202);
    const [received] = await rig.receiver.until(1);
    expect(received?.headers['webhook-id']).toBe(message.id);
    await rig.attempts(1);
    expect((await rig.call('GET', `app/acme/endpoint/${endpoint.id}/msg`)).body.data).toHaveLength(1);
  });

  it('leaves an attempt that is under way alone', async () => {
    await using rig = await openDeliveryRig();
    const endpoint = await rig.endpoint();
    const release = rig.receiver.hold();
    const message = await rig.publish();
    await rig.receiver.until(1);
    expect(await rig.resources.deliveries.resend('acme', message.id, endpoint.id)).toBe('sending');
    expect((await rig.call('POST', `app/acme/msg/${message.id}/endpoint/${endpoint.id}/resend`)).status).toBe(202);
    release();
    await rig.attempts(1);
    expect(rig.receiver.received).toHaveLength(1);
  });

  it('SPI-09 ALL-06 asks to resume an endpoint that is not active; what is held for it goes out on resume', async () => {
    await using rig = await openDeliveryRig();
    const endpoint = await rig.endpoint();
    await rig.call('POST', `app/acme/endpoint/${endpoint.id}/pause`);
    const message = await rig.publish();
    const held = (await rig.call('GET', `delivery?message=${message.id}`)).body.data;
    expect(held).toMatchObject([{ state: 'held', attemptCount: 0 }]);
    const answer = await rig.call('POST', `app/acme/msg/${message.id}/endpoint/${endpoint.id}/resend`);
    expect(answer).toMatchObject({ status: 409, body: { code: 'endpoint_not_active' } });
    expect(answer.body.detail).toContain('resume');
    await rig.call('POST', `app/acme/endpoint/${endpoint.id}/resume`);
    const [received] = await rig.receiver.until(1);
    expect(received?.headers['webhook-id']).toBe(message.id);
  });

  it("ALL-06 does not find another application's message or endpoint", async () => {
    await using rig = await openDeliveryRig();
    const endpoint = await rig.endpoint();
    const message = await rig.publish();
    await rig.resources.applications.create({ name: 'Other', uid: 'other' });
    for (const path of [
      `app/other/msg/${message.id}/endpoint/${endpoint.id}/resend`,
      `app/acme/msg/msg_x/endpoint/${endpoint.id}/resend`,
      `app/acme/msg/${message.id}/endpoint/ep_x/resend`,
    ]) {
      expect(await rig.call('POST', path)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
    for (const path of [
      `app/other/attempt/msg/${message.id}`,
      `app/other/attempt/endpoint/${endpoint.id}`,
      `app/other/msg/${message.id}/endpoint`,
      `app/acme/msg/${message.id}/attempt/atmpt_x`,
    ]) {
      expect(await rig.call('GET', path)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
  });
});
