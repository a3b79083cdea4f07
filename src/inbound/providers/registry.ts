import { PosthornError } from '../../errors.ts';
import { closest } from '../../policy/index.ts';
import { adyen } from './adyen.ts';
import { apiKey } from './api-key.ts';
import { awsSns } from './aws-sns.ts';
import { basic } from './basic.ts';
import type { KnownProvider } from './define-provider.ts';
import { discord } from './discord.ts';
import { genericHmac } from './generic-hmac.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import { hubspot } from './hubspot.ts';
import { intercom } from './intercom.ts';
import { linear } from './linear.ts';
import { mailgun } from './mailgun.ts';
import { meta } from './meta.ts';
import { none } from './none.ts';
import { paddle } from './paddle.ts';
import { paypal } from './paypal.ts';
import type { Provider } from './provider.ts';
import { sendgrid } from './sendgrid.ts';
import { shopify } from './shopify.ts';
import { slack } from './slack.ts';
import { square } from './square.ts';
import { standardWebhooks } from './standard-webhooks.ts';
import { stripe } from './stripe.ts';
import { twilio } from './twilio.ts';
import { twitch } from './twitch.ts';
import { typeform } from './typeform.ts';
import { zoom } from './zoom.ts';

/** By name, the ones that verify nothing or little last. */
const KNOWN = [
  adyen,
  awsSns,
  discord,
  github,
  gitlab,
  hubspot,
  intercom,
  linear,
  mailgun,
  meta,
  paddle,
  paypal,
  sendgrid,
  shopify,
  slack,
  square,
  standardWebhooks,
  stripe,
  twilio,
  twitch,
  typeform,
  zoom,
  genericHmac,
  basic,
  apiKey,
  none,
] as const;

export const PROVIDERS: readonly Provider[] = KNOWN;

type Known = (typeof KNOWN)[number];
/** What a provider may be called. */
export type ProviderName = Known['name'];
type Named<Name extends ProviderName> = Known extends infer P
  ? P extends KnownProvider<infer N, infer Setting, infer Needed, infer Secret>
    ? Name extends N
      ? { setting: Setting; needed: Needed; secret: Secret }
      : never
    : never
  : never;

/** What may be set for one provider, by any of its names. */
export type SettingOf<Name extends ProviderName> = Named<Name>['setting'];
/** What must be. */
export type NeededSetting<Name extends ProviderName> = Named<Name>['needed'];
/** What `secret` is short for: never, where it is for none. */
export type MainSecret<Name extends ProviderName> = Named<Name>['secret'];

/** As long as the most patient of them retries. */
export const LONGEST_DEDUPE_MS = Math.max(...PROVIDERS.map(({ dedupeForMs }) => dedupeForMs));

const BY_NAME = new Map(
  PROVIDERS.flatMap((provider) => [provider.name, ...provider.aliases].map((name) => [name, provider])),
);

export function findProvider(name: string): Provider {
  const provider = BY_NAME.get(name);
  if (provider !== undefined) return provider;
  const near = closest(name, BY_NAME.keys());
  const known = PROVIDERS.map((each) => each.name).join(', ');
  throw new PosthornError(
    'validation',
    `there is no provider of that name.${near ? ` Did you mean ${near}?` : ''} There are ${known}; generic-hmac takes most others`,
    {
      issues: [
        {
          loc: ['provider'],
          msg: near ? `${JSON.stringify(name)} is not known; did you mean ${near}?` : `must be one of ${known}`,
          type: 'value_error',
        },
      ],
    },
  );
}
