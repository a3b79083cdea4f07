import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DeliveryRig, openDeliveryRig } from '../api/testing/delivery-rig.ts';
import type { Messages, PublishInput } from './messages.ts';

const INPUT: PublishInput = { application: 'acme', eventType: 'a.b', payload: { n: 1 } };

describe('publish', () => {
  let rig: DeliveryRig;
  let messages: Messages;
  beforeAll(async () => {
    rig = await openDeliveryRig({ maxPayloadBytes: 100 });
    messages = rig.resources.messages;
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const count = async () => (await messages.list('acme', { limit: 250 })).data.length;

  it('stores the message with its marks, found again by its id and by its event id', async () => {
    const message = await messages.publish({ ...INPUT, eventId: 'e-1', channels: ['x', 'y', 'x'], tags: ['t'] });
    expect(message).toMatchObject({ eventType: 'a.b', eventId: 'e-1', channels: ['x', 'y'], tags: ['t'] });
    const found = await messages.get('acme', 'e-1');
    expect(found).toEqual(await messages.get(message.applicationId, message.id));
    expect(Buffer.from(found.payload).toString()).toBe('{"n":1}');
  });

  it('refuses an event id that is taken as a conflict that names the message', async () => {
    const first = await messages.publish({ ...INPUT, eventId: 'e-2' });
    await expect(messages.publish({ ...INPUT, eventId: 'e-2' })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(first.id),
    });
  });

  it('BUD-08 ALL-06 says what to do when a client is given and the store is not a database that callers share', async () => {
    const before = await count();
    const client = { query: async () => ({ rows: [] }) };
    await expect(messages.publish(INPUT, { client })).rejects.toThrow('POSTHORN_STORE=postgres');
    expect(await count()).toBe(before);
  });

  it('gives the first message back for the same idempotency key, and refuses the key for another message', async () => {
    const keyed = { ...INPUT, idempotencyKey: 'k-1' };
    const first = await messages.publish(keyed);
    const before = await count();
    expect((await messages.publish(keyed)).id).toBe(first.id);
    const twins = await Promise.all([1, 2].map(() => messages.publish({ ...INPUT, idempotencyKey: 'k-2' })));
    expect(twins[1]?.id).toBe(twins[0]?.id);
    await expect(messages.publish({ ...keyed, payload: { n: 2 } })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    expect(await count()).toBe(before + 1);
  });

  it.each<[string, object, string]>([
    ['an application that is no text', { application: undefined }, 'application'],
    ['an event type that is no text', { eventType: undefined }, 'eventType'],
    ['an event type with a slash', { eventType: 'a/b' }, 'eventType'],
    ['an event type of 257 characters', { eventType: 'x'.repeat(257) }, 'eventType'],
    ['an event id that is no text', { eventId: 5 }, 'eventId'],
    ['an event id like ours', { eventId: 'msg_1' }, 'eventId'],
    ['an empty list of channels', { channels: [] }, 'channels'],
    ['channels that are no list', { channels: 'red' }, 'channels'],
    ['a tag that is no text', { tags: [5] }, 'tags'],
    ['a list as payload', { payload: [] }, 'payload'],
  ])('ALL-06 refuses %s, says where, and stores nothing', async (_, fields, where) => {
    const before = await count();
    await expect(messages.publish({ ...INPUT, ...fields } as PublishInput)).rejects.toMatchObject({
      code: 'validation',
      issues: [{ loc: expect.arrayContaining(['body', where]) }],
    });
    expect(await count()).toBe(before);
  });

  it('ALL-06 takes a payload of exactly the limit, and none that is a byte larger', async () => {
    const payload = { x: 'é'.repeat(46) };
    const message = await messages.publish({ ...INPUT, payload });
    expect(message.payload.byteLength).toBe(100);
    await expect(messages.publish({ ...INPUT, payload: { x: `${payload.x}x` } })).rejects.toMatchObject({
      code: 'payload_too_large',
    });
  });

  it('ALL-06 does not find an application that is not there', async () => {
    await expect(messages.publish({ ...INPUT, application: 'nobody' })).rejects.toMatchObject({ code: 'not_found' });
  });
});
