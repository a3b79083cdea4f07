import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startReceiver } from '../../testing/scripted-receiver.ts';
import { openReceivingRig, type ReceivingRig } from '../testing/receiving-rig.ts';

describe('posthorn sources', { timeout: 60_000 }, () => {
  let rig: ReceivingRig;
  beforeAll(async () => {
    rig = await openReceivingRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  it('ALL-06 says of a source that --if-missing keeps which of the options given it did not take', async () => {
    const made = await rig.run('sources create stripe --uid kept --secret whsec_first');
    const create = 'sources create stripe --uid kept --if-missing';
    const again = await rig.run(`${create} --secret whsec_other --policy quick --pass-through`);
    expect(again).toMatchObject({ exitCode: 0, out: made.out });
    expect(again.err).toBe(
      'kept was there already and is kept as it is: --secret, --policy, --pass-through were not taken. ' +
        '`posthorn sources rotate-secret kept --secret …` takes one.\n',
    );
    expect((await rig.run(`${create} --setting toleranceSeconds=60`)).err).toMatch(/: --setting was not taken\.\n$/);
    expect(await rig.run(`${create} --policy payments-inbound`)).toMatchObject({ out: made.out, err: '' });
    expect(await rig.run(create)).toMatchObject({ out: made.out, err: '' });
  });

  it.each([
    ...[
      ['sources', 'show'],
      ['sources', 'delete', '--yes'],
      ['sources', 'rotate-token'],
    ],
    ...[
      ['sources', 'rotate-secret', '--secret', 'x'],
      ['events', 'show'],
      ['events', 'resend'],
    ],
    ...[
      ['sources', 'create', 'none', '--if-missing', '--uid'],
      ['trigger', 'stripe', 'invoice.paid', '--source'],
    ],
  ])('ALL-06 refuses an empty id or one of dots, which would be the path of a list: %s %s %s %s', async (...args) => {
    for (const id of ['', '.', '..']) {
      const ran = await rig.run([...args, id]);
      expect(ran).toMatchObject({ exitCode: 2, out: '' });
      expect(ran.err).toContain(`posthorn: ${JSON.stringify(id)} is no id and no uid: is a variable not set?`);
    }
  });

  it.each([
    ['header:X-Request-Id', { by: 'header', name: 'x-request-id' }, 'header:x-request-id'],
    ['json:data.id', { by: 'json', path: 'data.id' }, 'json:data.id'],
    ['body', { by: 'body' }, 'body'],
    ['provider', { by: 'provider' }, 'provider'],
  ])('makes a source that tells copies by %s and says what becomes of unknown events', async (given, dedupe, shown) => {
    const uid = `by-${dedupe.by}`;
    const create = `sources create none --uid ${uid} --on-unknown-event ignore --dedupe ${given}`;
    const made = await rig.run(create);
    expect(made.out).toMatch(new RegExp(`^unknown events +ignore\ncopies told by +${shown}$`, 'm'));
    expect(await rig.json(`sources show ${uid}`)).toMatchObject({ onUnknownEvent: 'ignore', dedupe });
    expect(await rig.run(`${create} --if-missing`)).toMatchObject({ out: made.out, err: '' });
    const other = await rig.run(
      `sources create none --uid ${uid} --if-missing --on-unknown-event reject --dedupe json:other`,
    );
    expect(other.err).toContain('kept as it is: --on-unknown-event, --dedupe were not taken');
  });

  it.each([
    ['--dedupe id', 'Write provider, body, header:NAME or json:PATH.'],
    ['--dedupe header:', 'Write provider, body, header:NAME or json:PATH.'],
    ['--dedupe body:x', 'Write provider, body, header:NAME or json:PATH.'],
    ['--on-unknown-event drop', 'Allowed choices are keep, ignore, reject.'],
  ])('ALL-06 create with %s says what can be written', async (flags, said) => {
    expect(await rig.run(`sources create none --uid wrong ${flags}`)).toMatchObject({
      exitCode: 2,
      out: '',
      err: expect.stringContaining(said),
    });
  });

  it.each([
    ['stripe --secret whsec_1', 'github', 'stripe'],
    ['none', 'stripe', 'none'],
    ['clerk --secret whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0', 'resend', 'clerk'],
  ])('SUB-01 --if-missing keeps no source of another provider: %s, then %s', async (first, second, provider) => {
    const uid = `was-${provider}`;
    expect((await rig.run(`sources create ${first} --uid ${uid}`)).exitCode).toBe(0);
    expect(await rig.run(`sources create ${second} --uid ${uid} --if-missing`)).toMatchObject({
      exitCode: 1,
      out: '',
      err: expect.stringContaining(
        `${uid}" already exists and is of ${provider}: what ${second} sends would not be verified`,
      ),
    });
    expect((await rig.json(`sources show ${uid}`)).provider).toBe(provider);
  });

  it.each([
    ['aws-sns --setting topicArn=arn:aws:sns:us-east-1:123456789012:orders', 'sns'],
    ['render --secret whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0', 'render'],
    ['standard-webhooks --secret whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0', 'clerk'],
    ['none', 'generic-webhook'],
  ])('--if-missing keeps a source of the same provider, whatever it is called: %s, then %s', async (first, second) => {
    const made = await rig.run(`sources create ${first} --uid same-as-${second}`);
    expect(made.exitCode).toBe(0);
    const again = await rig.run(`sources create ${second} --uid same-as-${second} --if-missing`);
    expect(again).toMatchObject({ exitCode: 0, out: made.out, err: '' });
  });

  it.each([
    ['create stripe', /^posthorn: --secret is required: /],
    ['create paypal', /^posthorn: --setting webhookId=… is required: the id of the webhook/],
    [
      'create paypal --secret x',
      /^posthorn: paypal has no secret: leave --secret .*, and give --setting webhookId=… \(the id of/,
    ],
    ['create none --secret x', /^posthorn: none has no secret: leave --secret and \w+ out\n$/],
    [
      'create gitlab --secret x',
      /^posthorn: gitlab has several secrets: leave --secret .* give --setting signingToken=… \(.*, or --setting secretToken=… \(/,
    ],
    [
      'create stripe --secret x --setting signingSecret=y',
      /^posthorn: --secret is another name of "signingSecret", and both are given; give one of them\n$/,
    ],
    ['create meta --secret x --setting appSecret=y', /^posthorn: --secret is another name of "appSecret", and both/],
    ['create github --secret x --setting secrte=y', /^posthorn: --setting secrte=… is not a .*; did you mean secret\?/],
    ['create github --secret x --policy quik', /^posthorn: --policy .*quick/],
    ['create github --secret x --uid a/b', /^posthorn: --uid must /],
  ])('ALL-06 %s: is refused in the words of the command line', async (line, said) => {
    expect(await rig.run(`sources ${line}`)).toMatchObject({ exitCode: 2, out: '', err: expect.stringMatching(said) });
  });

  it('ALL-06 says how to change what is not a secret', async () => {
    await rig.run('sources create paypal --setting webhookId=8PT597110X687430LKGECATA');
    const { exitCode, err } = await rig.run('sources rotate-secret paypal --secret x');
    expect(exitCode).toBe(2);
    expect(err).toMatch(
      /^posthorn: secret cannot be rotated: PayPal has no secret to change\. For its settings \(webhookId/,
    );
    expect(err).toContain('PUT /ingest/api/v1/source/{source}');
  });

  it('sends the events of a source on, signed with the secret that it prints', async () => {
    await rig.run('sources create stripe --uid on --secret whsec_on');
    const app = await startReceiver();
    const made = await rig.run(`sources forward on --to ${app.url}shop --uid shop --event-type invoice.paid`);
    expect(made).toMatchObject({ exitCode: 0, err: '' });
    const [, secret = ''] = /^secret +(whsec_\S+)$/m.exec(made.out) ?? [];
    expect(made.out).toMatch(/^endpoint +shop \(ep_\w+\)\nsends to +http:.*\/shop\nevent types +invoice\.paid\n/);
    const signed = 'trigger stripe invoice.paid --source on --secret whsec_on';
    await rig.run(signed);
    await rig.run(signed.replace('invoice.paid', 'customer.created'));
    await expect.poll(() => app.arrivals.length).toBe(1);
    const [arrival] = app.arrivals;
    const headers = arrival?.headers as Record<string, string>;
    expect(new Webhook(secret).verify(arrival?.body ?? '', headers)).toMatchObject({ type: 'invoice.paid' });
    await app.close();
  });

  it('sends on as it came what a source passes through, and takes several types', async () => {
    await rig.run('sources create stripe --uid through --secret whsec_on --pass-through');
    const types = '--event-type invoice.paid,invoice.voided --event-type charge.refunded';
    const forward = `sources forward through --to http://127.0.0.1:9/ ${types}`;
    const made = await rig.json(forward);
    expect(made).toMatchObject({
      uid: null,
      url: 'http://127.0.0.1:9/',
      eventTypes: ['invoice.paid', 'invoice.voided', 'charge.refunded'],
    });
    expect(made).not.toHaveProperty('secret');
    expect((await rig.run(forward)).out).toMatch(/^secret +none: events go as they came/m);
  });

  it.each([
    ['', /--to <url>/],
    ['--to nowhere', /^posthorn: --to cannot be sent to: it is not a URL/],
    ['--to http://127.0.0.1/ --uid a/b', /^posthorn: --uid must be /],
    ['--to http://127.0.0.1/ --event-type a,', /--event-type/],
  ])('ALL-06 forward %s: is refused in the words of the command line', async (flags, said) => {
    await rig.run('sources create none --uid refusing --if-missing');
    expect(await rig.run(`sources forward refusing ${flags}`)).toMatchObject({
      exitCode: 2,
      out: '',
      err: expect.stringMatching(said),
    });
  });

  it.each(['show', 'forward --to http://127.0.0.1/', 'delete', 'rotate-secret --secret x', 'rotate-token'])(
    'ALL-06 says of a source that is not there where those are that are: %s',
    async (command) => {
      const [name = '', ...flags] = command.split(' ');
      expect(await rig.run(['sources', name, 'strpe', ...flags])).toMatchObject({
        out: '',
        err: 'posthorn: There is no source "strpe"; `posthorn sources list` shows those there are\n',
      });
    },
  );

  it('ALL-06 says which commands there are to who asks for another', async () => {
    const { exitCode, err } = await rig.run('sources update stripe --policy quick');
    expect(exitCode).toBe(2);
    expect(err).toContain(
      'there are list, create, show, forward, delete, rotate-secret, rotate-token; posthorn sources --help',
    );
    expect((await rig.run('sources --help')).out.replaceAll(/\s+/g, ' ')).toContain(
      'PUT /ingest/api/v1/source/{source}',
    );
  });
});
