import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { loadConfig } from './config/index.ts';
import { closed, isPosthornError } from './errors.ts';
import { PermanentError, type ReceivedNotice } from './inbound/index.ts';
import { createPosthorn, withoutSecrets } from './posthorn.ts';
import { createTestSchema } from './testing/postgres-schema.ts';
import { startReceiver } from './testing/scripted-receiver.ts';

it('shows its configuration without secrets, however it is printed or copied', () => {
  const adminToken = 'an-admin-token-0123456789';
  const secretKey = 'a-secret-key-of-enough-length';
  const config = withoutSecrets(loadConfig({ overrides: { store: 'sqlite::memory:', adminToken, secretKey } }));
  for (const shown of [JSON.stringify({ config }), inspect(config), inspect({ ...config })]) {
    expect(shown).not.toContain(adminToken);
    expect(shown).not.toContain(secretKey);
  }
  expect(config.secretKey).toBeUndefined();
  expect(config.adminToken).toBe(adminToken);
  expect(config).toMatchObject({ store: 'sqlite::memory:', port: 8420 });
  expect(Object.isFrozen(config)).toBe(true);
});

it('keeps its admin token whichever nodes start beside it, with another one or with none', async () => {
  const schema = await createTestSchema();
  const adminToken = 'an-admin-token-0123456789';
  const open = (settings: { adminToken?: string; role?: 'api' | 'worker' }) =>
    createPosthorn({ store: schema.url, postgresPool: 2, logger: false, ...settings });
  const nodes = [await open({ adminToken })];
  try {
    nodes.push(await open({ role: 'worker' }), await open({ role: 'api', adminToken: 'the-token-of-another-node' }));
    const [first, worker, other] = nodes;
    expect(await first?.tokens.authenticate(adminToken)).toMatchObject({ scope: 'admin' });
    expect(await other?.tokens.authenticate('the-token-of-another-node')).toMatchObject({ scope: 'admin' });
    expect(await worker?.tokens.authenticate(adminToken)).toBeUndefined();
    await worker?.close(0);
    nodes.push(await open({ adminToken }));
    expect(await nodes[3]?.tokens.authenticate(adminToken)).toMatchObject({ scope: 'admin' });
  } finally {
    for (const node of nodes) await node.close(0);
    await schema.drop();
  }
});

it('says what it takes when it is given something else', async () => {
  await expect(createPosthorn('sqlite:./x.db' as never)).rejects.toThrow(/takes an object of settings.*not a string/);
  await expect(createPosthorn(null as never)).rejects.toThrow(/, not null$/);
  await expect(createPosthorn({ worker: 'no' as never })).rejects.toThrow('worker must be true or false');
});

it.each<[string, object, RegExp]>([
  ['a logger with half of its methods', { logger: { info() {}, error() {} } }, /logger .* it lacks debug, warn$/],
  ['a logger that is none', { logger: 'console' }, /logger must have the methods debug, info, warn, error/],
  ['a hook that is no function', { onReceived: 'log' }, /onReceived must be a function, not a string/],
  ['another one', { onDeadLetter: 5 }, /onDeadLetter must be a function/],
])('ALL-06 refuses %s before anything is opened', async (_, options, message) => {
  await expect(createPosthorn({ store: 'sqlite::memory:', ...options })).rejects.toThrow(message);
});

it('goes on when an async hook or listener rejects, and says so', async () => {
  const errors: string[] = [];
  const note = ({ error }: { error?: string }, message: string) => void errors.push(`${message}: ${error}`);
  const schema = await createTestSchema();
  const posthorn = await createPosthorn({
    store: schema.url,
    postgresPool: 2,
    logger: { debug() {}, info() {}, warn() {}, error: note },
    onReceived: async () => {
      throw new Error('statistics are down');
    },
  });
  try {
    const attempt = new Promise<void>((resolve) => {
      posthorn.on(async ({ kind }) => {
        if (kind !== 'attempt') return;
        resolve();
        throw new Error('a listener is down');
      });
    });
    const open = posthorn.source('none', {}).on('*', () => {});
    const request = new Request('http://127.0.0.1/', { method: 'POST', body: '{"id":"1","type":"a"}' });
    expect((await open.receive(request)).status).toBe(200);
    await attempt;
    await expect
      .poll(() => errors)
      .toEqual([
        'the onReceived hook failed: statistics are down',
        'something failed on our side; the engine goes on: a listener is down',
      ]);
  } finally {
    await posthorn.close(0);
    await schema.drop();
  }
});

it('PAY-05 names the dead letter that nobody could be told of, and what the alert answered', async () => {
  const onCall = await startReceiver(503);
  const schema = await createTestSchema();
  const errors: { message: string; fields: object }[] = [];
  const posthorn = await createPosthorn({
    store: schema.url,
    postgresPool: 2,
    logger: { debug() {}, info() {}, warn() {}, error: (fields, message) => void errors.push({ message, fields }) },
    onDeadLetter: async () => {
      throw await fetch(onCall.url);
    },
  });
  try {
    const open = posthorn.source('hooks', { provider: 'none' }).on('*', () => {
      throw new PermanentError('no such customer');
    });
    const request = new Request('http://127.0.0.1/', { method: 'POST', body: '{"id":"evt_1","type":"a"}' });
    expect((await open.receive(request)).status).toBe(200);
    await expect.poll(() => errors).toHaveLength(1);
    expect(errors[0]).toEqual({
      message: 'the onDeadLetter hook failed',
      fields: {
        eventId: expect.stringMatching(/^sha256_/),
        eventType: 'a',
        deliveryId: expect.stringMatching(/^dlv_/),
        reason: expect.stringContaining('permanent error'),
        error: `HTTP 503 from ${onCall.url}`,
      },
    });
  } finally {
    await posthorn.close(0);
    await onCall.close();
    await schema.drop();
  }
});

it.each([
  [true, ['svix-id', 'svix-signature', 'svix-timestamp']],
  [false, []],
])('sends the names that Svix uses when svixNames is %s', async (svixNames, expected) => {
  const receiver = await startReceiver();
  const schema = await createTestSchema();
  const settings = { store: schema.url, postgresPool: 2, allowNetworks: ['127.0.0.0/8'] };
  const posthorn = await createPosthorn({ ...settings, svixNames, logger: false });
  try {
    await posthorn.applications.create({ name: 'one', uid: 'one' });
    await posthorn.endpoints.create('one', { url: receiver.url });
    await posthorn.publish({ application: 'one', eventType: 'a.b', payload: {} });
    await receiver.arrived(1);
    const names = Object.keys(receiver.arrivals[0]?.headers ?? {});
    expect(names.filter((name) => name.startsWith('svix-')).toSorted((a, b) => a.localeCompare(b))).toEqual(expected);
    expect(names).toContain('webhook-signature');
  } finally {
    await posthorn.close(0);
    await receiver.close();
    await schema.drop();
  }
});

it('tells what became of each request to a source, and a hook that throws changes no answer', async () => {
  const notices: ReceivedNotice[] = [];
  const schema = await createTestSchema();
  const posthorn = await createPosthorn({
    store: schema.url,
    postgresPool: 2,
    logger: false,
    onReceived(notice) {
      notices.push(notice);
      throw new Error('the hook is broken');
    },
  });
  try {
    const open = posthorn.source('open', {
      provider: 'none',
      settings: { eventIdPath: 'id', eventTypePath: 'type' },
    });
    const stripe = posthorn.source('stripe', { secret: 'whsec_test' });
    open.on('handled', () => {});
    await Promise.all([open.ready(), stripe.ready()]);
    const post = async ({ receive }: Pick<typeof open, 'receive'>, body: object) =>
      (await receive(new Request('http://127.0.0.1/', { method: 'POST', body: JSON.stringify(body) }))).status;
    expect(await post(open, { id: 'evt_1', type: 'handled' })).toBe(200);
    expect(await post(open, { id: 'evt_2', type: 'other' })).toBe(200);
    expect(await post(open, { id: 'evt_2', type: 'other' })).toBe(200);
    expect(await post(stripe, {})).toBe(401);
    expect(notices).toEqual([
      { source: 'open', status: 200, became: 'stored', eventId: 'evt_1', eventType: 'handled', destinations: 1 },
      { source: 'open', status: 200, became: 'stored', eventId: 'evt_2', eventType: 'other', destinations: 0 },
      { source: 'open', status: 200, became: 'skipped', eventId: 'evt_2', eventType: 'other', destinations: 0 },
      { source: 'stripe', status: 401, became: 'refused', reason: 'no stripe-signature header' },
    ]);
  } finally {
    await posthorn.close(0);
    await schema.drop();
  }
});

it('ALL-06 whatever is called on a closed one says so in the same words, and a receiver answers 503 with them', async () => {
  const schema = await createTestSchema();
  const posthorn = await createPosthorn({ store: schema.url, postgresPool: 2, logger: false });
  try {
    await posthorn.applications.create({ name: 'one', uid: 'one' });
    const hooks = posthorn.source('hooks', { provider: 'none' });
    await hooks.ready();
    await posthorn.close(0);
    const message = { application: 'one', eventType: 'a.b', payload: {} };
    const client = { query: async () => ({ rows: [{ application_id: 'app_1', queued: true }] }) };
    const calls: readonly (() => unknown)[] = [
      () => posthorn.publish(message),
      () => posthorn.publish(message, { client }),
      () => posthorn.processPendingRetries(),
      () => posthorn.applications.create({ name: 'two' }),
      () => posthorn.endpoints.list('one'),
      () => posthorn.deadLetters.list(),
      () => posthorn.source('others', { provider: 'none' }),
      () => posthorn.on(() => {}),
      () => hooks.on('*', () => {}),
      () => hooks.ready(),
      () => hooks.retry('evt_1'),
    ];
    const said = await Promise.all(calls.map(async (call) => describeFailure(async () => call())));
    expect(said).toEqual(calls.map(() => `closed: ${closed().message}`));
    const answer = await hooks.receive(new Request('http://127.0.0.1/', { method: 'POST', body: '{}' }));
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).not.toBeNull();
    expect(await answer.json()).toEqual({ code: 'closed', detail: closed().message });
  } finally {
    await posthorn.close(0);
    await schema.drop();
  }
});

it('ALL-06 refuses a misspelt name in whatever it is given, says which was meant, and does nothing', async () => {
  const schema = await createTestSchema();
  const posthorn = await createPosthorn({ store: schema.url, postgresPool: 2, logger: false });
  const { publish, applications, endpoints, sources } = posthorn;
  const message = { application: 'one', eventType: 'a.b', payload: {} };
  const source = { name: 'in', provider: 'none' };
  try {
    const { record: app } = await applications.create({ name: 'one', uid: 'one' });
    const { id: hooks } = await sources.create({ ...source, uid: 'hooks' });
    const endpoint = await endpoints.create('one', { url: 'https://example.com/' });
    const calls: readonly (readonly [said: string, call: () => unknown])[] = [
      ['aplication: is not a field of a message; did you mean application?', () => publish(odd(message, 'aplication'))],
      ['clinet: is not an option; did you mean client?', () => publish(message, odd({}, 'clinet'))],
      [
        'evntId: is not a field of a message; did you mean eventId?',
        () => posthorn.messages.publish(odd(message, 'evntId')),
      ],
      ['nmae: is not a field of an application; did you mean name?', () => applications.create(odd({}, 'nmae'))],
      ['id: is not a field of an application; did you mean uid?', () => applications.create(odd({ name: 'x' }, 'id'))],
      [
        'getIfExist: is not an option; did you mean getIfExists?',
        () => applications.create({ name: 'x' }, odd({}, 'getIfExist')),
      ],
      [
        'metdata: is not a field of an application; did you mean metadata?',
        () => applications.patch('one', odd({}, 'metdata')),
      ],
      ['ulr: is not a field of an endpoint; did you mean url?', () => endpoints.create('one', odd({}, 'ulr'))],
      [
        'filterType: is not a field of an endpoint; did you mean filterTypes?',
        () => endpoints.patch('one', endpoint.id, odd({}, 'filterType')),
      ],
      ['kye: is not an option; did you mean key?', () => endpoints.rotate('one', endpoint.id, odd({}, 'kye'))],
      [
        'aplicationId: is not a field of a token; did you mean applicationId?',
        () => posthorn.tokens.create(odd({ name: 'reader', scope: 'read-only' }, 'aplicationId')),
      ],
      [
        'sorce: is not a field to select by; did you mean source?',
        () => posthorn.deadLetters.discardAll(odd({}, 'sorce'), 'why'),
      ],
      [
        'endpont: is not a field to select by; did you mean endpoint?',
        () => posthorn.deadLetters.retryAll(odd({ application: 'one' }, 'endpont')),
      ],
      ['dedup: is not a field of a source; did you mean dedupe?', () => sources.create(odd(source, 'dedup'))],
      [
        'onUnknownEvents: is not a field of a source; did you mean onUnknownEvent?',
        () => sources.update(hooks, odd(source, 'onUnknownEvents')),
      ],
      [
        'deprected: is not a field of an event type; did you mean deprecated?',
        () => posthorn.eventTypes.create(odd({ name: 'a.b' }, 'deprected')),
      ],
      ['expung: is not an option; did you mean expunge?', () => posthorn.eventTypes.delete('a.b', odd({}, 'expung'))],
      [
        'polciy: is not a field of a policy; did you mean policy?',
        () => posthorn.policies.create(odd({ name: 'mine' }, 'polciy')),
      ],
      [
        'failur: is not an option of a simulation; did you mean failure?',
        () => posthorn.policies.simulate(odd({ policy: 'quick', outageMs: 5000 }, 'failur')),
      ],
      ['dropold: is not an option; did you mean dropOld?', () => sources.rotateUrlToken(hooks, odd({}, 'dropold'))],
      [
        'secrt: is not an option of the source "stripe"; did you mean secret?',
        () => posthorn.source('stripe', odd({}, 'secrt')),
      ],
    ];
    const said = await Promise.all(calls.map(async ([, call]) => describeFailure(async () => call())));
    expect(said).toEqual(calls.map(([expected]) => `validation: ${expected}`));
    expect((await posthorn.messages.list('one')).data).toEqual([]);
    expect((await applications.list()).data).toEqual([app]);
    expect((await sources.get(hooks)).formerUrls).toBeUndefined();

    // What was read may be given back changed, and clients of the API may know more than it does.
    expect((await applications.update('one', { ...app, name: 'two' })).record.name).toBe('two');
    expect((await endpoints.update('one', endpoint.id, { ...endpoint, description: 'new' })).record.description).toBe(
      'new',
    );
    const quick = await posthorn.policies.get('quick');
    expect(await posthorn.policies.create({ ...quick, name: 'mine' })).toMatchObject({ preset: false });
    expect((await sources.update(hooks, { ...(await sources.get(hooks)), name: 'new' })).record.name).toBe('new');
    const { applications: tolerant } = posthorn.served.resources;
    expect((await tolerant.create(odd({ name: 'three' }, 'fieldOfTomorrow'))).created).toBe(true);
  } finally {
    await posthorn.close(0);
    await schema.drop();
  }
});

/** As plain JavaScript may give it. */
function odd<T extends object>(input: T, key: string): never {
  return { ...input, [key]: 'x' } as never;
}

async function describeFailure(call: () => Promise<unknown>): Promise<string> {
  try {
    await call();
    return 'no failure';
  } catch (error) {
    return isPosthornError(error) ? `${error.code}: ${error.message}` : String(error);
  }
}
