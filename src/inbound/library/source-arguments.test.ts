/** What the compiler refuses: `tsc` fails on an expectation of an error that is not there. */
import { expectTypeOf, it } from 'vitest';
import type { SourceArguments } from './source-arguments.ts';

const take = (...source: SourceArguments) => source[0];

it('ALL-06 the settings of a source are those of its provider, by its name or any other that it has', () => {
  take('stripe', { secret: 'whsec_1' });
  take('stripe', { secret: 'whsec_1', settings: { toleranceSeconds: '60' } });
  take('stripe', { settings: { signingSecret: ['whsec_1', 'whsec_2'], toleranceSeconds: '60' }, policy: 'quick' });
  take('paypal', { settings: { webhookId: 'WH-1' }, onUnknownEvent: 'ignore' });
  take('clerk', { secret: 'whsec_1' });
  take('svix', { provider: 'standard-webhooks', secret: 'whsec_1' });
  take('shop', { provider: 'shopify', secret: 'x' });
  take('internal', {
    provider: 'generic-hmac',
    settings: { secret: 'x', header: 'x-signature', eventTypePath: 'kind' },
  });
  // @ts-expect-error a setting that no provider has
  take('stripe', { secret: 'x', settings: { secrt: 'x' } });
  // @ts-expect-error a setting of another provider
  take('stripe', { secret: 'x', settings: { webhookId: 'WH-1' } });
  // @ts-expect-error a setting of another provider, where there is none but the secret
  take('github', { secret: 'x', settings: { webhookId: 'WH-1' } });
  // @ts-expect-error a setting of another provider, by another name of the source
  take('shop', { provider: 'shopify', secret: 'x', settings: { webhookId: 'WH-1' } });
  // @ts-expect-error neither its name nor `provider` says who sends
  take('shop', { secret: 'x' });
  // @ts-expect-error there is no such provider
  take('shop', { provider: 'shoppify', secret: 'x' });
  expectTypeOf<SourceArguments>().not.toBeAny();
});

it('ALL-06 what a provider needs is there, as its secret or under its own name', () => {
  take('basic', { secret: 'x', settings: { username: 'shop' } });
  take('basic', { settings: { username: 'shop', password: ['x', 'y'], eventTypePath: 'kind' } });
  take('meta', { secret: 'x', settings: { verifyToken: 'y' } });
  take('none', {});
  // @ts-expect-error without its secret
  take('stripe', {});
  // @ts-expect-error without its secret, though other settings are there
  take('stripe', { settings: { toleranceSeconds: '60' } });
  // @ts-expect-error what may be undefined may be missing
  take('stripe', { secret: process.env.NOPE });
  // @ts-expect-error without its secret and its user name
  take('basic', {});
  // @ts-expect-error without its user name
  take('basic', { secret: 'x' });
  // @ts-expect-error without its webhookId
  take('paypal', {});
  // @ts-expect-error without its secret, by another name of the source
  take('shop', { provider: 'shopify' });
});

it('ALL-06 `secret` is for providers that have a main one', () => {
  take('gitlab', { settings: { signingToken: 'x' } });
  // @ts-expect-error PayPal signs by a certificate
  take('paypal', { secret: 'x', settings: { webhookId: 'WH-1' } });
  // @ts-expect-error GitLab has two
  take('gitlab', { secret: 'x' });
  // @ts-expect-error nothing is verified
  take('none', { secret: 'x' });
  // @ts-expect-error nothing is verified, by another name of the source
  take('open', { provider: 'none', secret: 'x' });
});

it('takes one of several providers that need a secret alone, and what was taken by another function', () => {
  const wrapped = (...source: SourceArguments) => take(...source);
  wrapped('stripe', { secret: 'x' });
  for (const name of ['stripe', 'github'] as const) take(name, { secret: ['x'], policy: 'quick' });
  const shop = (provider: 'stripe' | 'shopify', secret: string) => take('shop', { provider, secret });
  shop('stripe', 'x');
  // @ts-expect-error one of them needs more
  for (const name of ['stripe', 'basic'] as const) take(name, { secret: 'x' });
});
