/** The official Svix SDK, unchanged, against a running server: what its users can move over by changing a URL. */
import { ApiException, MessageAttemptTriggerType, MessageStatus, messageInRaw, Svix, Webhook } from 'svix';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DeliveryRig, openDeliveryRig, TWO_TRIES } from '../../src/api/testing/delivery-rig.ts';

/** What was thrown, if it is what the SDK makes of an error answer. */
async function refusal(call: Promise<unknown>): Promise<ApiException<{ code?: string; detail: unknown }>> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ApiException) return error;
  throw error ?? new Error('this call should have been refused');
}

describe.each([
  { svixNames: false, idHeader: 'webhook-id' },
  { svixNames: true, idHeader: 'svix-id' },
])('the svix SDK, with $idHeader headers', ({ svixNames, idHeader }) => {
  let rig: DeliveryRig;
  let svix: Svix;
  beforeAll(async () => {
    rig = await openDeliveryRig({ svixNames });
    const serverUrl = await rig.server.listen({ host: '127.0.0.1', port: 0 });
    svix = new Svix(rig.token, { serverUrl });
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  it('creates an application, an endpoint and a message, verifies what arrives, and reads the attempt back', async () => {
    const application = await svix.application.create({ name: 'Ada', uid: 'ada' });
    const endpoint = await svix.endpoint.create('ada', { url: rig.receiver.url, uid: 'ada-hook' });
    const payload = { invoice: 'in_1', lines: [{ amount: 1.5 }] };
    const message = await svix.message.create('ada', { eventType: 'invoice.paid', eventId: 'evt-1', payload });
    expect(message).toMatchObject({ eventId: 'evt-1', eventType: 'invoice.paid', payload });

    const received = (await rig.receiver.until(1)).at(-1);
    expect(received?.headers[idHeader]).toBe(message.id);
    const { key } = await svix.endpoint.getSecret(application.id, endpoint.id);
    const verified = new Webhook(key).verify(received?.body ?? '', received?.headers as Record<string, string>);
    expect(verified).toEqual(payload);

    await rig.attempts(1);
    const attempts = await svix.messageAttempt.listByMsg('ada', 'evt-1');
    expect(attempts).toMatchObject({
      done: true,
      data: [
        {
          msgId: message.id,
          endpointId: endpoint.id,
          status: MessageStatus.Success,
          statusText: 'success',
          responseStatusCode: 200,
          triggerType: MessageAttemptTriggerType.Scheduled,
          timestamp: expect.any(Date),
        },
      ],
    });
    const attemptId = attempts.data[0]?.id ?? '';
    expect((await svix.messageAttempt.get('ada', message.id, attemptId)).id).toBe(attemptId);
    const byEndpoint = await svix.messageAttempt.listByEndpoint('ada', 'ada-hook', {
      status: MessageStatus.Success,
      eventTypes: ['invoice.paid', 'other'],
      withMsg: true,
      after: new Date('2020-01-01'),
    });
    expect(byEndpoint.data).toMatchObject([{ id: attemptId, msg: { id: message.id, payload } }]);

    expect(await svix.message.get('ada', 'evt-1')).toMatchObject({ id: message.id, payload });
    expect((await svix.message.list('ada', { withContent: false })).data).toMatchObject([
      { id: message.id, payload: {} },
    ]);
    const messages = await svix.messageAttempt.listAttemptedMessages('ada', 'ada-hook');
    expect(messages.data).toMatchObject([{ id: message.id, status: MessageStatus.Success, payload }]);
    const destinations = await svix.messageAttempt.listAttemptedDestinations('ada', message.id);
    expect(destinations.data).toMatchObject([{ id: endpoint.id, uid: 'ada-hook', status: MessageStatus.Success }]);
  });

  it('resends, sends raw text, and creates the application that a message brings along', async () => {
    await svix.message.create('eve', {
      eventType: 'a',
      eventId: 'e',
      payload: {},
      application: { name: 'Eve', uid: 'eve' },
    });
    const endpoint = await svix.endpoint.create('eve', { url: rig.receiver.url });
    const before = rig.receiver.received.length;
    expect(await svix.messageAttempt.resend('eve', 'e', endpoint.id)).toEqual({});
    await rig.receiver.until(before + 1);
    await svix.message.create('eve', messageInRaw('a', '{ "raw" : 1.0 }'));
    const received = await rig.receiver.until(before + 2);
    expect(received.at(-1)?.body).toBe('{ "raw" : 1.0 }');
  });

  it('shows a failed attempt as the SDK names it', async () => {
    await svix.application.create({ name: 'Bob', uid: 'bob' });
    const { id } = await rig.resources.endpoints.create('bob', { url: rig.receiver.url, policy: TWO_TRIES });
    rig.receiver.answer(500, 'broken');
    await svix.message.create('bob', { eventType: 'a', payload: {} });
    const failures = () => svix.messageAttempt.listByEndpoint('bob', id, { status: MessageStatus.Fail });
    await expect.poll(async () => (await failures()).data.length).toBe(2);
    expect((await failures()).data[0]).toMatchObject({
      statusText: 'fail',
      responseStatusCode: 500,
      response: 'broken',
    });
  });

  it('makes exceptions of refusals, with the code and the places that are wrong', async () => {
    await svix.application.create({ name: 'Cy', uid: 'cy' });
    await svix.message.create('cy', { eventType: 'a', payload: {}, eventId: 'once' });
    const taken = await refusal(svix.message.create('cy', { eventType: 'a', payload: {}, eventId: 'once' }));
    expect(taken).toMatchObject({ code: 409, body: { code: 'conflict' } });
    const unknown = await refusal(svix.message.get('cy', 'msg_nothing'));
    expect(unknown).toMatchObject({ code: 404, body: { code: 'not_found' } });
    const bad = await refusal(svix.message.create('cy', { eventType: 'no spaces', payload: {} }));
    expect(bad).toMatchObject({ code: 422, body: { detail: [{ loc: ['body', 'eventType'] }] } });
  });

  it('repeats a message under one idempotency key without sending it twice', async () => {
    await svix.application.create({ name: 'Di', uid: 'di' });
    const create = () => svix.message.create('di', { eventType: 'a', payload: {} }, { idempotencyKey: 'key' });
    const [first, second] = [await create(), await create()];
    expect(second.id).toBe(first.id);
    expect((await svix.message.list('di')).data).toHaveLength(1);
  });
});
