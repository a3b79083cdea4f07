import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServer } from './server.ts';
import { type DeliveryRig, openDeliveryRig } from './testing/delivery-rig.ts';

describe('messages', () => {
  let rig: DeliveryRig;
  beforeAll(async () => {
    rig = await openDeliveryRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  /** The body as text, because that is what these tests are about. */
  async function send(body: string, headers: Record<string, string> = {}, query = '') {
    const answer = await rig.server.inject({
      method: 'POST',
      url: `/api/v1/app/acme/msg${query}`,
      headers: { authorization: `Bearer ${rig.token}`, 'content-type': 'application/json', ...headers },
      payload: body,
    });
    return { status: answer.statusCode, text: answer.body, body: JSON.parse(answer.body) };
  }

  async function countMessages(): Promise<number> {
    return (await rig.call('GET', 'app/acme/msg?limit=250')).body.data.length;
  }

  it('delivers the exact text of the payload and shows it again, digits and spaces included', async () => {
    await using own = await openDeliveryRig();
    await own.endpoint();
    const payload = '{ "amount": 12345678901234567890.10, "é": "\\u00e9" }';
    const answer = await own.server.inject({
      method: 'POST',
      url: '/api/v1/app/acme/msg',
      headers: { authorization: `Bearer ${own.token}`, 'content-type': 'application/json' },
      payload: `{"eventType":"a.b","payload":${payload}}`,
    });
    expect(answer.statusCode).toBe(202);
    expect(answer.body).toContain(`"payload":${payload}`);
    const [received] = await own.receiver.until(1);
    expect(received?.body).toBe(payload);
    expect(received?.headers['webhook-id']).toBe(answer.json().id);
    const shown = await own.server.inject({
      url: `/api/v1/app/acme/msg/${answer.json().id}`,
      headers: { authorization: `Bearer ${own.token}` },
    });
    expect(shown.body).toContain(`"payload":${payload}`);
  });

  it('answers 202 with the message, and {} for its payload without content', async () => {
    const full = await send('{"eventType":"a.b","payload":{"a":1},"eventId":"e-1","channels":["c"],"tags":["t"]}');
    expect(full.status).toBe(202);
    expect(full.body).toEqual({
      id: expect.stringMatching(/^msg_[0-9A-Za-z]{27}$/),
      eventId: 'e-1',
      eventType: 'a.b',
      channels: ['c'],
      tags: ['t'],
      timestamp: expect.stringMatching(/Z$/),
      payload: { a: 1 },
    });
    const bare = await send('{"eventType":"a.b","payload":{"a":1}}', {}, '?with_content=false');
    expect(bare.body).toMatchObject({ payload: {}, eventId: null, channels: null, tags: null });
    const byEventId = await rig.call('GET', 'app/acme/msg/e-1?with_content=false');
    expect(byEventId.body).toEqual({ ...full.body, payload: {} });
  });

  it('takes data for payload, rawPayload for exact text, and the fields that SDKs may send', async () => {
    const data = await send('{"eventType":"a","data":{"d":1},"application":null,"payloadRetentionPeriod":5,"x":1}');
    expect(data.body.payload).toEqual({ d: 1 });
    const raw = await send('{"eventType":"a","payload":{},"transformationsParams":{"rawPayload":"{ \\"r\\":1}"}}');
    expect(raw.text).toContain('"payload":{ "r":1}');
  });

  it('does a request under one idempotency key once, and refuses the key for another request', async () => {
    const before = await countMessages();
    const body = '{"eventType":"a","payload":{"k":1}}';
    const first = await send(body, { 'idempotency-key': 'key-1' });
    const [second, third] = await Promise.all([1, 2].map(() => send(body, { 'idempotency-key': 'key-1' })));
    expect(second).toEqual(first);
    expect(third).toEqual(first);
    const other = await send('{"eventType":"a","payload":{"k":2}}', { 'idempotency-key': 'key-1' });
    expect(other).toMatchObject({ status: 409, body: { code: 'idempotency_key_reused' } });
    expect(await countMessages()).toBe(before + 1);
  });

  it('remembers a key with the message in one commit: another server on the same store gives the same answer', async () => {
    const body = '{"eventType":"a","payload":{"restart":true}}';
    const first = await send(body, { 'idempotency-key': 'key-2' });
    const { context, resources, token } = rig;
    const restarted = createServer({ resources, store: context.store, clock: context.clock, logger: false });
    const again = await restarted.inject({
      method: 'POST',
      url: '/api/v1/app/acme/msg',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': 'key-2' },
      payload: body,
    });
    expect([again.statusCode, again.body]).toEqual([202, first.text]);
    await restarted.close();
  });

  it('refuses an event id that is taken with 409, and stores nothing', async () => {
    await send('{"eventType":"a","payload":{},"eventId":"twice"}');
    const before = await countMessages();
    const again = await send('{"eventType":"a","payload":{"other":1},"eventId":"twice"}');
    expect(again).toMatchObject({ status: 409, body: { code: 'conflict', detail: expect.stringContaining('twice') } });
    expect(await countMessages()).toBe(before);
  });

  it('creates the application that a message brings along, unless the message is bad', async () => {
    const application = { name: 'New', uid: 'new-one' };
    const bad = await rig.call('POST', 'app/new-one/msg', { eventType: 'not a name', payload: {}, application });
    expect(bad.status).toBe(422);
    expect((await rig.call('GET', 'app/new-one')).status).toBe(404);
    const other = await rig.call('POST', 'app/other/msg', { eventType: 'a', payload: {}, application });
    expect(other).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'application', 'uid'] }] } });
    const good = await rig.call('POST', 'app/new-one/msg', { eventType: 'a', payload: {}, application });
    expect(good.status).toBe(202);
    expect((await rig.call('GET', 'app/new-one')).body.name).toBe('New');
  });

  it.each([
    ['malformed JSON', '{"eventType":"a","payload":{', 422, ['body']],
    ['a body that is no object', '[]', 422, ['body']],
    ['no event type', '{"payload":{}}', 422, ['body', 'eventType']],
    ['no payload', '{"eventType":"a"}', 422, ['body', 'payload']],
    ['a list as payload', '{"eventType":"a","payload":[1]}', 422, ['body', 'payload']],
    ['text as payload', '{"eventType":"a","payload":"{}"}', 422, ['body', 'payload']],
    ['null as payload', '{"eventType":"a","payload":null}', 422, ['body', 'payload']],
    ['a number as event type', '{"eventType":5,"payload":{}}', 422, ['body', 'eventType']],
    ['an event type with a space', '{"eventType":"a b","payload":{}}', 422, ['body', 'eventType']],
    ['an event id that looks like an id', '{"eventType":"a","payload":{},"eventId":"msg_1"}', 422, ['body', 'eventId']],
    ['no channels at all', '{"eventType":"a","payload":{},"channels":[]}', 422, ['body', 'channels']],
    ['six channels', '{"eventType":"a","payload":{},"channels":["1","2","3","4","5","6"]}', 422, ['body', 'channels']],
    ['a bad channel', '{"eventType":"a","payload":{},"channels":["ok","no!"]}', 422, ['body', 'channels', '[1]']],
    ['a bad tag', '{"eventType":"a","payload":{},"tags":[" "]}', 422, ['body', 'tags', '[0]']],
    ['a date to deliver at', '{"eventType":"a","payload":{},"deliverAt":"2030-01-01"}', 422, ['body', 'deliverAt']],
    [
      'raw text that is no JSON',
      '{"eventType":"a","payload":{},"transformationsParams":{"rawPayload":"<xml/>"}}',
      422,
      ['body', 'transformationsParams', 'rawPayload'],
    ],
  ])('ALL-06 refuses %s with a JSON answer that says where, and stores nothing', async (_, body, status, loc) => {
    const before = await countMessages();
    const answer = await send(body);
    expect(answer.status).toBe(status);
    expect(answer.body.detail[0]).toMatchObject({ loc, msg: expect.any(String), type: expect.any(String) });
    expect(await countMessages()).toBe(before);
  });

  it('ALL-06 refuses what is too large with 413, and what is no JSON by its type with 415', async () => {
    const before = await countMessages();
    const large = await send(JSON.stringify({ eventType: 'a', payload: { x: 'x'.repeat(2 * 1024 * 1024) } }));
    expect(large).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
    const form = await send('eventType=a', { 'content-type': 'application/x-www-form-urlencoded' });
    expect(form).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
    expect(await countMessages()).toBe(before);
  });

  it('ALL-06 tells unknown applications and messages with 404', async () => {
    for (const [method, path] of [
      ['POST', 'app/nobody/msg'],
      ['GET', 'app/nobody/msg'],
      ['GET', 'app/nobody/msg/e-1'],
      ['GET', 'app/acme/msg/msg_nothing'],
    ] as const) {
      const answer = await rig.call(method, path, method === 'POST' ? { eventType: 'a', payload: {} } : undefined);
      expect(answer).toMatchObject({ status: 404, body: { code: 'not_found', detail: expect.any(String) } });
    }
  });

  it("lets an application's token read its own messages, and neither publish nor see another's", async () => {
    const { id: applicationId } = await rig.resources.applications.get('acme');
    const { token } = await rig.resources.tokens.create({ name: 'portal', scope: 'application', applicationId });
    expect((await rig.call('GET', 'app/acme/msg', undefined, { token })).status).toBe(200);
    expect((await rig.call('POST', 'app/acme/msg', { eventType: 'a', payload: {} }, { token })).status).toBe(403);
    await rig.resources.applications.create({ name: 'Other', uid: 'foreign' });
    expect((await rig.call('GET', 'app/foreign/msg', undefined, { token })).status).toBe(404);
  });
});

describe('the list of messages', () => {
  it('is newest first, paged both ways, and narrowed by type, channel, tag and date', async () => {
    await using rig = await openDeliveryRig();
    const ids: string[] = [];
    for (const [index, fields] of [
      { eventType: 'user.made', channels: ['red'] },
      { eventType: 'user.gone', tags: ['vip'] },
      { eventType: 'user.made', channels: ['red', 'blue'] },
    ].entries()) {
      ids.unshift((await rig.publish({ ...fields, payload: { index } })).id);
    }
    const list = async (query: string) => (await rig.call('GET', `app/acme/msg?${query}`)).body;
    const idsOf = async (query: string) => (await list(query)).data.map(({ id }: { id: string }) => id);

    expect(await idsOf('')).toEqual(ids);
    expect((await list('with_content=false')).data[0].payload).toEqual({});
    const first = await list('limit=2');
    expect(first).toMatchObject({ iterator: ids[1], prevIterator: `-${ids[0]}`, done: false });
    const second = await list(`limit=2&iterator=${first.iterator}`);
    expect(second).toMatchObject({ data: [{ id: ids[2] }], done: true });
    expect(await idsOf(`limit=2&iterator=${second.prevIterator}`)).toEqual(ids.slice(0, 2));

    const [newest, middle, oldest] = ids;
    expect(await idsOf('event_types=user.gone')).toEqual([middle]);
    expect(await idsOf('event_types=user.gone,user.made')).toEqual(ids);
    expect(await idsOf('event_types[]=user.gone')).toEqual([middle]);
    expect(await idsOf('event_types[0]=user.gone&event_types[1]=none')).toEqual([middle]);
    expect(await idsOf('channel=red')).toEqual([newest, oldest]);
    expect(await idsOf('tag=vip')).toEqual([middle]);
    expect(await idsOf('before=2020-01-01T00:00:00Z')).toEqual([]);
    // With `after` alone the oldest come first, and prevIterator leads to the newer ones.
    const caught = await list('after=2020-01-01T00:00:00%2B00:00&limit=2');
    expect(caught.data.map(({ id }: { id: string }) => id)).toEqual([middle, oldest]);
    expect(await idsOf(`after=2020-01-01T00:00:00Z&limit=2&iterator=${caught.prevIterator}`)).toEqual([newest]);
  });

  it('ALL-06 refuses a bad limit, iterator and date with 422', async () => {
    await using rig = await openDeliveryRig();
    for (const [query, name] of [
      ['limit=251', 'limit'],
      ['limit=x', 'limit'],
      ['iterator=app_1', 'iterator'],
      ['before=yesterday', 'before'],
      ['with_content=maybe', 'with_content'],
    ]) {
      const answer = await rig.call('GET', `app/acme/msg?${query}`);
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', name] }] } });
    }
  });
});
