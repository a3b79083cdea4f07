/** Every provider's events, from the command line into a real server; and what the command refuses. */
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProvider, PROVIDERS, type ProviderSettings } from '../../inbound/providers/index.ts';
import { makeAuthority } from '../../inbound/providers/testing/make-chain.ts';
import { providerCases } from '../../inbound/providers/testing/provider-cases.ts';
import { startReceiver } from '../../testing/scripted-receiver.ts';
import { openReceivingRig, type ReceivingRig } from '../testing/receiving-rig.ts';
import { runInMemory } from '../testing/run-in-memory.ts';

const SECRET = 'whsec_of_the_endpoint_at_stripe';
const authority = makeAuthority();
const signer = authority.issue('paypal', { commonName: 'messageverificationcerts.paypal.com' });
interface Case {
  readonly name: string;
  readonly old: ProviderSettings;
  readonly signOld: ProviderSettings;
}
const CASES: readonly Case[] = [...providerCases(signer), { name: 'none', old: {}, signOld: {} }];

let rig: ReceivingRig;
beforeAll(async () => {
  const ports = { trustedRoots: [authority.root], fetchCertificate: async () => signer.pem };
  rig = await openReceivingRig({ ports });
  await rig.run(['sources', 'create', 'stripe', '--secret', SECRET]);
});
afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
  authority.close();
});

const flags = (settings: ProviderSettings) =>
  Object.entries(settings).flatMap(([name, value]) => [value].flat().flatMap((one) => ['--setting', `${name}=${one}`]));
const trigger = (...words: string[]) => rig.run(['trigger', ...words]);

describe('posthorn trigger', { timeout: 60_000 }, () => {
  it('has every provider, and sends each sample so that a source of that provider takes it', async () => {
    expect(new Set(CASES.map(({ name }) => name))).toEqual(new Set(PROVIDERS.map(({ name }) => name)));
    for (const { name, old, signOld } of CASES) {
      const uid = 'url' in old ? `try-${name}-behind-a-proxy` : `try-${name}`;
      const made = await rig.run(['sources', 'create', name, '--uid', uid, ...flags(old)]);
      expect([name, made.err]).toEqual([name, '']);
      for (const type of findProvider(name).sampleTypes) {
        const ran = await trigger(name, type, '--source', uid, ...flags(signOld));
        expect([name, type, ran.out, ran.err, ran.exitCode]).toEqual([
          name,
          type,
          expect.stringContaining(' → '),
          '',
          0,
        ]);
      }
      const kept = await rig.inbound.messages(uid);
      expect([uid, kept.length]).toEqual([uid, findProvider(name).sampleTypes.length]);
    }
  }, 240_000);

  it('needs no token: a source and its secret are enough, and the source of the provider is meant without --source', async () => {
    const env = { POSTHORN_URL: rig.url, POSTHORN_SOURCE_SECRET: SECRET };
    const ran = await runInMemory('trigger stripe invoice.paid', env);
    expect(ran).toMatchObject({ exitCode: 0, err: '' });
    expect(ran.out).toMatch(
      /^invoice\.paid → http:\/\/127\.0\.0\.1:\d+\/in\/stripe {2}200 {2}\d+ ms {2}\{"received":true/,
    );
    expect(ran.out).not.toContain(SECRET);
  });

  it("sends straight to an app, whose own check of the vendor's library passes", async () => {
    const app = await startReceiver(204);
    const { exitCode } = await trigger(
      ...['stripe', 'invoice.paid', '--secret', SECRET, '--to', `${app.url}hooks`, '--count', '2'],
      ...['--set', 'data.object.amount_paid=500', '--set', 'data.object.note=hello'],
    );
    expect(exitCode).toBe(0);
    const events = app.arrivals.map(({ body, headers }) =>
      new Stripe('sk_test_1').webhooks.constructEvent(body, String(headers['stripe-signature']), SECRET),
    );
    expect(events[0]?.data.object).toMatchObject({ amount_paid: 500, note: 'hello' });
    expect(new Set(events.map(({ id }) => id)).size).toBe(2);
    expect(app.arrivals[0]?.path).toBe('/hooks');
    await app.close();
  });

  it('uses what the source says of itself about how it signs, when there is a token', async () => {
    const how = ['--setting', 'header=X-Odd', '--setting', 'timestampHeader=X-Time'];
    await rig.run(['sources', 'create', 'generic-hmac', '--uid', 'odd', '--secret', 'secret-of-the-odd-one', ...how]);
    const ran = await trigger('generic-hmac', 'order.paid', '--source', 'odd', '--secret', 'secret-of-the-odd-one');
    expect([ran.err, ran.exitCode]).toEqual(['', 0]);
  });

  it('says of an event whose type was set what it was sent as, for people and for programs', async () => {
    const words = ['stripe', 'invoice.paid', '--secret', SECRET, '--set', 'type=invoice.finalized'];
    expect((await trigger(...words)).out).toMatch(/^invoice\.finalized → http/);
    expect(JSON.parse((await trigger(...words, '--json')).out)).toMatchObject({
      provider: 'stripe',
      eventType: 'invoice.finalized',
    });
    const unsigned = ['paypal', 'PAYMENT.CAPTURE.COMPLETED', '--set', 'event_type=OTHER', '--source', 'nothing'];
    await rig.run('sources create none --uid nothing');
    expect((await trigger(...unsigned)).out).toMatch(/^OTHER → http/);
  });

  it('reads a key from a file', async () => {
    const { old, signOld } = CASES.find(({ name }) => name === 'discord') as Case;
    const file = join(tmpdir(), `posthorn-key-${process.pid}.pem`);
    writeFileSync(file, String(signOld.privateKey));
    const [type = ''] = findProvider('discord').sampleTypes;
    const ran = await trigger(
      'discord',
      type,
      '--source',
      'try-discord',
      ...flags(old),
      '--setting',
      `privateKey=@${file}`,
    );
    expect([ran.err, ran.exitCode]).toEqual(['', 0]);
    rmSync(file);
  });

  it('ALL-04 sends to no other machine than this one unless it is said, and to no redirect', async () => {
    for (const to of ['http://192.0.2.1/hook', 'https://example.com/in/stripe', 'http://localhost.example.com/']) {
      const ran = await trigger('stripe', 'invoice.paid', '--secret', SECRET, '--to', to);
      expect(ran).toMatchObject({ exitCode: 2, out: '', err: expect.stringContaining('--allow-remote') });
    }
    const far = await trigger('stripe', 'invoice.paid', '--secret', SECRET, '--url', 'http://192.0.2.1:8420');
    expect(far).toMatchObject({ exitCode: 2, err: expect.stringContaining('nothing was sent') });
    expect((await trigger('stripe', 'invoice.paid', '--secret', SECRET, '--to', 'file:///etc/passwd')).exitCode).toBe(
      2,
    );
    const other = await startReceiver();
    const app = await startReceiver((response) => response.writeHead(307, { location: other.url }).end());
    const ran = await trigger('stripe', 'invoice.paid', '--secret', SECRET, '--to', app.url);
    expect(ran).toMatchObject({ exitCode: 1, out: expect.stringContaining('  307  ') });
    expect(other.arrivals).toEqual([]);
    await app.close();
    await other.close();
  });

  it('ALL-06 says what is wrong and what to do', async () => {
    const err = async (...words: string[]) => (await trigger(...words)).err;
    expect(await err('strpe', 'invoice.paid')).toContain('Did you mean stripe?');
    expect(await err('stripe', 'invoice.payed')).toContain('Did you mean invoice.paid?');
    expect(await err('stripe', 'invoice.paid')).toContain('give --secret, or set POSTHORN_SOURCE_SECRET');
    expect(await err('stripe')).toContain('--list shows which there are');
    expect(await err('paypal', findProvider('paypal').sampleTypes[0] ?? '', '--source', 'try-paypal')).toContain(
      'signs with a private key that nobody else has',
    );
    const signed = ['stripe', 'invoice.paid', '--secret', SECRET];
    expect(await err(...signed, '--set', 'data.objct.x=1')).toContain('did you mean object?');
    expect(await err(...signed, '--set', 'nothing')).toContain('name=value');
    expect(await err(...signed, '--source', 'nobody')).toContain('There is no source "nobody"');
    expect(await err(...signed, '--count', '0')).toContain('1 to 10000');
    const wrong = await trigger('stripe', 'invoice.paid', '--secret', 'whsec_of_somebody_else');
    expect(wrong).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('the secret is not the one that the receiver has'),
    });
    const nobody = await trigger('stripe', 'invoice.paid', '--secret', SECRET, '--to', 'http://127.0.0.1:9/');
    expect(nobody).toMatchObject({ exitCode: 1, out: expect.stringContaining('nothing listens at 127.0.0.1:9') });
  });

  it('ALL-06 says of a key that nobody else has how its events are tried without it, and that works', async () => {
    await rig.run('sources create paypal --setting webhookId=8PT597110X687430LKGECATA');
    const words = ['paypal', 'PAYMENT.CAPTURE.COMPLETED'];
    const refused = await trigger(...words);
    expect(refused).toMatchObject({
      exitCode: 2,
      out: '',
      err: expect.stringContaining('no key of yours passes there'),
    });
    const [, create = ''] = /`posthorn (sources create none [^`]*)`/.exec(refused.err) ?? [];
    await rig.run(create.replace('try-paypal', 'open').replace('…', 'event_type'));
    expect(await trigger(...words, '--source', 'open')).toMatchObject({ exitCode: 0, err: '' });
    const stripe = ['stripe', 'invoice.paid', '--set', 'event_type=paid', '--source', 'open'];
    expect(await trigger(...stripe, '--secret', SECRET)).toMatchObject({ exitCode: 0, err: '' });
    const kept = await rig.inbound.messages('open');
    expect(kept.map(({ eventType }) => eventType)).toEqual(['PAYMENT.CAPTURE.COMPLETED', 'paid']);
    expect(kept[0]?.headers).not.toHaveProperty('paypal-transmission-sig');
    expect(kept[1]?.headers).toHaveProperty('stripe-signature');
  });

  it('ALL-06 refuses a secret that could be one of several, and none at all, with the settings to choose from', async () => {
    const app = await startReceiver();
    for (const given of [['--secret', 'abc'], []]) {
      const ran = await trigger('gitlab', 'push', '--to', app.url, ...given);
      expect(ran).toMatchObject({ exitCode: 2, out: '', err: expect.stringContaining('--setting secretToken=…') });
      expect(ran.err).toContain('--setting signingToken=…');
    }
    expect(app.arrivals).toEqual([]);
    const named = await trigger('gitlab', 'push', '--to', app.url, '--setting', 'secretToken=abc');
    expect([named.err, named.exitCode]).toEqual(['', 0]);
    expect(app.arrivals[0]?.headers['x-gitlab-token']).toBe('abc');
    await app.close();
  });

  it('lists providers and event types, for people and for programs', async () => {
    expect((await trigger('--list')).out).toMatch(/^provider +event types\nadyen .*\n(.*\n)*stripe +.*invoice\.paid/);
    const { data } = JSON.parse((await trigger('--list', '--json')).out);
    expect(data).toHaveLength(PROVIDERS.length);
    const sent = JSON.parse((await trigger('stripe', 'invoice.paid', '--secret', SECRET, '--json')).out);
    expect(sent).toMatchObject({ provider: 'stripe', sent: { headers: expect.anything() }, answer: { status: 200 } });
  });
});
