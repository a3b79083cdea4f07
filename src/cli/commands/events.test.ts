/** sources and events against a real server, with an endpoint and a handler behind it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedReceiver, startReceiver } from '../../testing/scripted-receiver.ts';
import { openReceivingRig, type ReceivingRig } from '../testing/receiving-rig.ts';

const SECRET = 'whsec_of_the_endpoint_at_stripe';
let rig: ReceivingRig;
let target: ScriptedReceiver;

beforeAll(async () => {
  rig = await openReceivingRig();
  target = await startReceiver();
});
afterAll(async () => {
  await target?.close();
  await rig?.[Symbol.asyncDispose]();
});

const trigger = (source: string, secret = SECRET) =>
  rig.run(['trigger', 'stripe', 'invoice.paid', '--source', source, '--secret', secret]);
const newest = async (owner: string) => (await rig.json(`events list ${owner}`)).data[0];

describe('posthorn sources', { timeout: 60_000 }, () => {
  it('creates a Stripe source, shows where it receives and never its secret, and keeps it with --if-missing', async () => {
    const made = await rig.run(['sources', 'create', 'stripe', '--secret', SECRET]);
    expect(made.out).toMatch(
      /^source +stripe \(src_\w+\)\nprovider +stripe\nreceiving URL +http:\/\/127\.0\.0\.1:\d+\/in\/stripe\n/,
    );
    expect(made.out).toContain('reachable from outside as https://<your host>/in/stripe; POSTHORN_PUBLIC_URL');
    const again = await rig.run(['sources', 'create', 'stripe', '--secret', SECRET, '--if-missing']);
    expect(again.out).toBe(made.out);
    expect((await rig.run(['sources', 'create', 'stripe', '--secret', SECRET])).err).toMatch(
      /already exists\. --if-missing keeps it.* `posthorn sources rotate-secret stripe --secret …`/,
    );
    expect((await rig.run('sources show stripe')).out).toBe(made.out);
    expect((await rig.run('sources list')).out).toMatch(/^source +provider +receiving URL\nstripe +stripe +http/);
    expect(JSON.stringify(await rig.json('sources list')) + made.out).not.toContain(SECRET);
    expect((await rig.run('sources create strpe')).err).toContain(
      'provider "strpe" is not known; did you mean stripe?',
    );
    expect((await rig.run('sources create github')).err).toMatch(/secret is required/);
    expect((await rig.run('sources create none --uid open')).out).toMatch(/^provider +none\n(.*\n)*warning /m);
    expect((await rig.run('sources list')).out).toContain('POSTHORN_PUBLIC_URL');
  });

  it('takes a new secret beside the old one, and the new one alone when the old is dropped', async () => {
    await rig.run(['sources', 'create', 'stripe', '--uid', 'turn', '--secret', 'whsec_first']);
    const rotate = (...more: string[]) =>
      rig.run(['sources', 'rotate-secret', 'turn', '--secret', 'whsec_second', ...more]);
    expect((await rig.run('sources show turn')).out).not.toContain('former');
    expect((await rotate()).out).toContain('The one before is taken too');
    expect((await rig.run('sources show turn')).out).toMatch(
      /^former secret +1 works until `posthorn sources rotate-secret turn --secret … --drop-old`/m,
    );
    expect((await trigger('turn', 'whsec_first')).exitCode).toBe(0);
    expect((await trigger('turn', 'whsec_second')).exitCode).toBe(0);
    expect((await rotate('--drop-old')).out).toContain('taken no more');
    expect((await rig.run('sources show turn')).out).not.toContain('former');
    expect((await trigger('turn', 'whsec_first')).exitCode).toBe(1);
    expect((await trigger('turn', 'whsec_second')).exitCode).toBe(0);
    for (const secret of ['whsec_typo', 'whsec_third']) {
      await rig.run(['sources', 'rotate-secret', 'turn', '--secret', secret]);
    }
    // None of them was dropped: the provider may sign with any.
    expect((await rig.run('sources show turn')).out).toMatch(/^former secrets +2 work until /m);
    expect((await trigger('turn', 'whsec_second')).exitCode).toBe(0);
    expect((await rig.run('sources rotate-secret turn')).err).toContain('POSTHORN_SOURCE_SECRET');
    expect((await rig.run('sources rotate-secret open --secret x')).err).toContain('has no secret to change');
  });

  it('gives a URL a token that trigger finds, and that a read-only token is not shown', async () => {
    await rig.run('sources create none --uid hidden');
    const rotated = await rig.run('sources rotate-token hidden');
    expect(rotated.out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/in\/hidden\/[\w-]{32}\n.*48 more hours\.\n$/);
    const [url = ''] = rotated.out.split('\n');
    for (const command of ['sources show hidden', 'sources list']) expect((await rig.run(command)).out).toContain(url);
    expect((await rig.json('sources rotate-token hidden')).ingestUrl).not.toBe(url);
    const { ingestUrl, formerUrls } = await rig.json('sources show hidden');
    const former = (await rig.run('sources show hidden')).out.match(/^former URL .*$/gm);
    expect(former).toEqual([
      expect.stringMatching(new RegExp(`with another token: works until ${formerUrls[0].expiresAt}$`)),
      expect.stringMatching(new RegExp(`without a token: works until ${formerUrls[1].expiresAt}$`)),
    ]);
    expect((await rig.run('trigger none order.paid --source hidden')).out).toContain(`→ ${ingestUrl}  200`);
    const reader = await rig.inbound.resources.tokens.create({ name: 'reader', scope: 'read-only' });
    for (const command of ['sources show hidden', 'sources list', 'listen --source hidden --since 1h --count 1']) {
      const { out } = await rig.run(`${command} --token ${reader.token}`);
      expect(out).toContain('hidden');
      expect(out).not.toContain('/in/hidden/');
    }
  });

  it('deletes only when it is said to be meant', async () => {
    await rig.run('sources create none --uid gone');
    expect(await rig.run('sources delete gone')).toMatchObject({ exitCode: 2, err: expect.stringContaining('--yes') });
    expect((await rig.run('sources show gone')).exitCode).toBe(0);
    expect((await rig.run('sources delete gone --yes')).exitCode).toBe(0);
    expect((await rig.run('sources show gone')).err).toContain('There is no source "gone"');
  });
});

describe('posthorn events', { timeout: 60_000 }, () => {
  it('BUD-09 resends an event with the same id and bytes, and a fresh timestamp and signature', async () => {
    await rig.run(['sources', 'create', 'stripe', '--uid', 'sent-on', '--secret', SECRET]);
    await rig.inbound.resources.endpoints.create((await rig.json('sources show sent-on')).id, {
      url: target.url,
      uid: 'shop',
    });
    await trigger('sent-on');
    await target.arrived(1);
    const { id, eventId } = await newest('--source sent-on');
    // Signatures are over whole seconds: the next one begins another.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect((await rig.run(`events resend ${id}`)).out).toMatch(/ep_\w+ +is being sent again/);
    await target.arrived(2);
    expect((await rig.run(['events', 'resend', eventId, '--source', 'sent-on', '--to', 'shop'])).exitCode).toBe(0);
    await target.arrived(3);
    const [first, second, third] = target.arrivals;
    for (const each of [second, third]) {
      expect(each?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
      expect(each?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
      expect(Number(each?.headers['webhook-timestamp'])).toBeGreaterThan(Number(first?.headers['webhook-timestamp']));
      expect(each?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature']);
    }
    const shown = (await rig.run(`events show ${id}`)).out;
    for (const text of [eventId, 'stripe-signature:', '"object":"event"', 'delivered', ' ms  HTTP 200']) {
      expect(shown).toContain(text);
    }
  });

  it('resends to a handler by its name, and to one that never got it', async () => {
    const handled: string[] = [];
    const source = rig.inbound.source('handled', { provider: 'stripe', secret: SECRET, onUnknownEvent: 'keep' });
    await source.ready();
    await trigger('handled');
    source.on('invoice.paid', async (_, { eventId }) => void handled.push(eventId));
    await source.ready();
    const { id, eventId } = await newest('--source handled');
    expect(await rig.run(`events resend ${id} --source handled`)).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('--to names an endpoint or handler'),
    });
    expect((await rig.run(`events resend ${id} --source handled --to invoice.paid`)).err).toBe('');
    await expect.poll(() => handled).toEqual([eventId]);
    expect((await rig.run(`events resend ${id} --source handled --to nobody`)).err).toContain(
      'There is no endpoint "nobody"',
    );
  });

  it('shows and resends messages of an application too', async () => {
    const { resources } = rig.inbound;
    await resources.applications.create({ name: 'Acme', uid: 'acme' });
    await resources.endpoints.create('acme', { url: target.url, uid: 'theirs' });
    const before = target.arrivals.length;
    await resources.messages.publish({ application: 'acme', eventType: 'order.paid', payload: { n: 1 } });
    await target.arrived(before + 1);
    const { id } = await newest('--application acme');
    const listed = (await rig.run('events list --application acme --event-type order.paid --since 1h')).out;
    expect(listed).toMatch(new RegExp(`^id +at +event type +bytes +deliveries .*\\n${id} .* 1 (delivered|leased)`));
    const shown = (await rig.run(`events show ${id}`)).out;
    expect(shown).toMatch(/^ +owner +acme \(app_\w+\)$/m);
    expect(shown).toMatch(/^delivery dlv_\w+ to theirs http:\/\/127\.0\.0\.1:\d+\/\S* \(ep_\w+\): /m);
    expect((await rig.run('events list --application acme --event-type other')).out).toBe(
      'There are no events here.\n',
    );
    expect(await rig.json(`events resend ${id} --to theirs`)).toMatchObject({ id, data: [{ destination: 'theirs' }] });
    await target.arrived(before + 2);
    expect((await rig.json(`events show ${id}`)).body).toBe('{"n":1}');
  });

  it('PAY-06 says of an event that its id came again with another body: in the list by a mark, and how often', async () => {
    await rig.run('sources create none --uid twice --setting eventIdPath=id');
    const send = (body: object) => fetch(`${rig.url}/in/twice`, { method: 'POST', body: JSON.stringify(body) });
    const show = async (id: string) => (await rig.run(`events show ${id} --source twice`)).out;
    await send({ type: 'order.paid', id: 'evt_same', n: 1 });
    await send({ type: 'order.paid', id: 'evt_same', n: 1 });
    await send({ type: 'order.paid', id: 'evt_other' });
    expect((await rig.run('events list --source twice')).out).not.toContain('*');
    expect(await show('evt_same')).not.toContain('conflicts');
    await send({ type: 'order.paid', id: 'evt_same', n: 2 });
    expect(await show('evt_same')).toMatch(
      /^ +conflicts +its id came again once with another body; this is the first/m,
    );
    await send({ type: 'order.paid', id: 'evt_same', n: 3 });
    const shown = await show('evt_same');
    expect(shown).toMatch(/^ +conflicts +its id came again 2 times with another body/m);
    expect(shown).toContain('"n":1');
    const listed = (await rig.run('events list --source twice')).out;
    expect(listed).toMatch(/ evt_other\n.* evt_same \*\n\n\* Its id came again with another body: the first is kept\./);
    expect((await newest('--source twice')).conflicts).toBe(0);
  });

  it('ALL-06 says what is wrong and what to do', async () => {
    expect((await rig.run('events list')).err).toContain('--source or --application');
    expect((await rig.run('events list --source a --application b')).err).toContain('cannot be used with');
    expect((await rig.run('events show msg_none')).err).toContain('There is no message "msg_none"');
    expect((await rig.run('events list --source nobody')).err).toContain('There is no source "nobody"');
    expect((await rig.run('events list --source github')).err).toContain(
      'There is no source "github"; make it: posthorn sources create github',
    );
  });
});
