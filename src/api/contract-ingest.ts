/** Sources on the wire, as the Svix SDKs' `ingest` client speaks of them: `type` and `config`, and what is ours beside. */
import { type Static, Type } from 'typebox';
import type { Dedupe, OnUnknownEvent, Source } from '../model/index.ts';
import { Nullable, Time } from './contract.ts';

const Metadata = Type.Record(Type.String(), Type.String());
const Config = Type.Unsafe<Readonly<Record<string, string | readonly string[] | null>>>({
  type: 'object',
  additionalProperties: true,
  description: "The provider's settings; `secret` is understood where it has one secret of another name.",
});
const Policy = Type.Unsafe<string | object>({ type: ['string', 'object'] });
const OnUnknown = Type.Unsafe<OnUnknownEvent>({
  type: 'string',
  enum: ['reject', 'ignore', 'keep'],
  description: 'What becomes of an event that no endpoint or handler is for; keep without it.',
});
const DedupeBy = Type.Unsafe<Dedupe>({
  type: 'object',
  additionalProperties: true,
  description: '{"by":"provider"}, {"by":"header","name":…}, {"by":"json","path":…} or {"by":"body"}.',
});
const ForwardAs = Type.Unsafe<Source['forwardAs']>({ type: 'string', enum: ['standard-webhooks', 'pass-through'] });

export const SourcePath = Type.Object({ source: Type.String() });
export const SourceEndpointPath = Type.Object({ source: Type.String(), endpoint: Type.String() });

export const SourceIn = Type.Object({
  name: Type.String(),
  uid: Type.Optional(Nullable(Type.String())),
  type: Type.String({ description: 'The provider: stripe, github, generic-hmac, …' }),
  config: Type.Optional(Nullable(Config)),
  metadata: Type.Optional(Metadata),
  policy: Type.Optional(Nullable(Policy)),
  onUnknownEvent: Type.Optional(OnUnknown),
  dedupe: Type.Optional(DedupeBy),
  forwardAs: Type.Optional(ForwardAs),
});
export type SourceIn = Static<typeof SourceIn>;

/** Not of Svix's making: a misspelt `dropOld` would leave what was to end. */
const OURS = { additionalProperties: false };

export const NewSecretIn = Type.Object(
  {
    secret: Type.String({ minLength: 1 }),
    dropOld: Type.Optional(
      Type.Boolean({ description: 'Take the new one alone; without it, the one before is taken too.' }),
    ),
  },
  OURS,
);

export const NewUrlIn = Type.Object(
  {
    dropOld: Type.Optional(
      Type.Boolean({
        description: 'Take the new URL alone, from now on; without it, the one before is taken for 48 hours.',
      }),
    ),
  },
  OURS,
);

export const NewUrlOut = Type.Object({
  ingestUrl: Type.String({ description: 'The URL with its new token, to enter at the provider.' }),
});

export const SourceOut = Type.Object({
  id: Type.String(),
  uid: Nullable(Type.String()),
  name: Type.String(),
  type: Type.String(),
  provider: Type.String({ description: 'As `type`, but for `none`, which the Svix SDKs know as generic-webhook.' }),
  config: Config,
  metadata: Metadata,
  ingestUrl: Nullable(
    Type.String({
      description:
        'Where the provider sends its webhooks. Once it has a token (token/rotate) it is a secret: read-only tokens are ' +
        'told null, and so is whoever sends an idempotency-key, whose answer is kept.',
    }),
  ),
  formerUrls: Type.Optional(
    Type.Array(
      Type.Object({
        hasToken: Type.Boolean({ description: 'False: the plain URL.' }),
        expiresAt: Time,
      }),
      {
        description:
          'URLs of before a token/rotate that are still taken, the latest first; absent where there are none.',
      },
    ),
  ),
  formerSecrets: Type.Optional(
    Type.Integer({
      description:
        'How many secrets of before a secret/rotate are still taken, until one with dropOld; absent where there are none.',
    }),
  ),
  policy: Policy,
  onUnknownEvent: OnUnknown,
  dedupe: DedupeBy,
  forwardAs: ForwardAs,
  warning: Nullable(Type.String()),
  createdAt: Time,
  updatedAt: Time,
});
export type SourceOut = Static<typeof SourceOut>;
