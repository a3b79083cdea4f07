/** What the compiler refuses: `tsc` fails on an expectation of an error that is not there. */
import { expectTypeOf, it } from 'vitest';
import type { SourceArguments } from './source-arguments.ts';

const take = (...source: SourceArguments) => source[0];

it('ALL-06 the settings of a source are those of its provider, by its name or any other that it has', () => {
  take('stripe', { secret: 'whsec_1' });
  take('stripe', { settings: { signingSecret: ['whsec_1', 'whsec_2'], toleranceSeconds: '60' }, policy: 'quick' });
  take('paypal', { settings: { webhookId: 'WH-1' }, onUnknownEvent: 'ignore' });
  take('clerk', { secret: 'whsec_1' });
  take('shop', { provider: 'shopify', secret: 'x' });
  take('internal', {
    provider: 'generic-hmac',
    settings: { secret: 'x', header: 'x-signature', eventTypePath: 'kind' },
  });
  // @ts-expect-error a setting that no provider has
  take('stripe', { settings: { secrt: 'x' } });
  // @ts-expect-error a setting of another provider
  take('stripe', { settings: { webhookId: 'WH-1' } });
  // @ts-expect-error a setting of another provider, by another name of the source
  take('shop', { provider: 'shopify', settings: { webhookId: 'WH-1' } });
  // @ts-expect-error neither its name nor `provider` says who sends
  take('shop', { secret: 'x' });
  // @ts-expect-error there is no such provider
  take('shop', { provider: 'shoppify', secret: 'x' });
  expectTypeOf<SourceArguments>().not.toBeAny();
});
