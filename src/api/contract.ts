/** The shapes on the wire, as schemas and as types. Inputs take what Svix clients of both generations send. */
import { type Static, type TSchema, type TUnsafe, Type } from 'typebox';
import type { EndpointStatus } from '../model/index.ts';

/** One type list instead of anyOf: a wrong value then gets one finding, not three. */
export function Nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  const { type } = schema as { type?: string | string[] };
  return Type.Unsafe({ ...schema, type: [type ?? [], 'null'].flat() });
}

export const Time = Type.String({ format: 'date-time' });
const Metadata = Type.Record(Type.String(), Type.String());
const Rate = Type.Integer({ minimum: 1, maximum: 1_000_000 });
const PolicyIn = Type.Unsafe<string | object>({
  type: ['string', 'object'],
  description: 'The name of a preset or stored policy, or a policy written out: see the schema Policy.',
});
/** Whatever a policy holds: policy/ checks it and says better than a schema what is wrong. */
const PolicyData = Type.Unsafe<object>({
  type: 'object',
  additionalProperties: true,
  description: 'See the schema Policy.',
});

export const AppPath = Type.Object({ app: Type.String() });

export const PageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 250, description: '50 without it.' })),
  iterator: Type.Optional(Type.String({ description: 'The iterator of the last page, or a prevIterator to go back.' })),
};
const Order = Type.Unsafe<'ascending' | 'descending'>({ type: 'string', enum: ['ascending', 'descending'] });
export const OrderedPageQuery = { ...PageQuery, order: Type.Optional(Order) };

export const ListOf = <T extends TSchema>(item: T) =>
  Type.Object({
    data: Type.Array(item),
    iterator: Nullable(Type.String()),
    prevIterator: Type.Optional(Type.String()),
    done: Type.Boolean(),
  });

export const ErrorOut = Type.Object({ code: Type.String(), detail: Type.String() });
export const ValidationErrorOut = Type.Object({
  detail: Type.Array(Type.Object({ loc: Type.Array(Type.String()), msg: Type.String(), type: Type.String() })),
});

const applicationFields = {
  uid: Type.Optional(Nullable(Type.String())),
  rateLimit: Type.Optional(Nullable(Rate)),
  throttleRate: Type.Optional(Nullable(Rate)),
  metadata: Type.Optional(Metadata),
  policy: Type.Optional(Nullable(PolicyIn)),
};
export const ApplicationIn = Type.Object({ name: Type.String(), ...applicationFields });
export const ApplicationPatch = Type.Object({ name: Type.Optional(Type.String()), ...applicationFields });
export const ApplicationOut = Type.Object({
  id: Type.String(),
  uid: Type.Optional(Type.String()),
  name: Type.String(),
  rateLimit: Type.Optional(Type.Integer()),
  throttleRate: Type.Optional(Type.Integer()),
  metadata: Metadata,
  policy: Nullable(PolicyIn),
  createdAt: Time,
  updatedAt: Time,
});
export type ApplicationOut = Static<typeof ApplicationOut>;

const Names = Type.Unsafe<readonly string[]>({ type: 'array', items: { type: 'string' } });
const Schemas = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true });

export const EndpointPath = Type.Object({ app: Type.String(), endpoint: Type.String() });
const endpointFields = {
  uid: Type.Optional(Nullable(Type.String())),
  description: Type.Optional(Type.String()),
  version: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
  disabled: Type.Optional(Type.Boolean()),
  rateLimit: Type.Optional(Nullable(Rate)),
  throttleRate: Type.Optional(Nullable(Rate)),
  maxInFlight: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 10_000 }))),
  eventTypes: Type.Optional(Nullable(Names)),
  filterTypes: Type.Optional(Nullable(Names)),
  channels: Type.Optional(Nullable(Names)),
  metadata: Type.Optional(Metadata),
  headers: Type.Optional(Nullable(Metadata)),
  secret: Type.Optional(Nullable(Type.String())),
  policy: Type.Optional(Nullable(PolicyIn)),
};
export const EndpointIn = Type.Object({ url: Type.String(), ...endpointFields });
export const EndpointPatch = Type.Object({ url: Type.Optional(Type.String()), ...endpointFields });
export const EndpointOut = Type.Object({
  id: Type.String(),
  uid: Nullable(Type.String()),
  url: Type.String(),
  description: Type.String(),
  version: Type.Integer(),
  disabled: Type.Boolean({ description: 'Whether it is stopped, in whichever way; `status` says in which.' }),
  status: Type.Unsafe<EndpointStatus>({ type: 'string', enum: ['active', 'paused', 'failed', 'disabled'] }),
  statusReason: Type.String(),
  failureCount: Type.Integer({ description: 'Failed attempts since the last success.' }),
  lastSuccessAt: Nullable(Time),
  lastFailureAt: Nullable(Time),
  rateLimit: Nullable(Type.Integer()),
  throttleRate: Nullable(Type.Integer()),
  maxInFlight: Nullable(Type.Integer()),
  filterTypes: Nullable(Names),
  eventTypes: Nullable(Names),
  channels: Nullable(Names),
  metadata: Metadata,
  policy: Nullable(PolicyIn),
  effectivePolicy: Type.String({
    description: "The name of the policy that it follows: its own, its application's or the default; or inline.",
  }),
  createdAt: Time,
  updatedAt: Time,
});
export type EndpointOut = Static<typeof EndpointOut>;

export const SecretOut = Type.Object({ key: Type.String() });
export const RotateIn = Type.Object({
  key: Type.Optional(Nullable(Type.String())),
  gracePeriodSeconds: Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: 604_800 }))),
});
export const HeadersIn = Type.Object({ headers: Metadata });
export const HeadersPatch = Type.Object({
  headers: Type.Optional(Type.Record(Type.String(), Nullable(Type.String()))),
  deleteHeaders: Type.Optional(Names),
});
export const HeadersOut = Type.Object({ headers: Metadata, sensitive: Type.Array(Type.String()) });
export const PauseIn = Type.Object({ reason: Type.Optional(Type.String()) });

export const NamePath = Type.Object({ name: Type.String() });
const eventTypeFields = {
  archived: Type.Optional(Type.Boolean()),
  deprecated: Type.Optional(Type.Boolean()),
  groupName: Type.Optional(Nullable(Type.String())),
  featureFlag: Type.Optional(Nullable(Type.String())),
  schemas: Type.Optional(Nullable(Schemas)),
};
export const EventTypeIn = Type.Object({ name: Type.String(), description: Type.String(), ...eventTypeFields });
export const EventTypeUpdate = Type.Object({ description: Type.String(), ...eventTypeFields });
export const EventTypePatch = Type.Object({ description: Type.Optional(Type.String()), ...eventTypeFields });
export const EventTypeOut = Type.Object({
  name: Type.String(),
  description: Type.String(),
  archived: Type.Boolean(),
  deprecated: Type.Boolean(),
  groupName: Nullable(Type.String()),
  featureFlag: Nullable(Type.String()),
  schemas: Nullable(Schemas),
  createdAt: Time,
  updatedAt: Time,
});
export type EventTypeOut = Static<typeof EventTypeOut>;

const policyFields = { description: Type.Optional(Type.String()), policy: PolicyData };
export const NamedPolicyIn = Type.Object({ name: Type.String(), ...policyFields });
export const NamedPolicyUpdate = Type.Object(policyFields);
export const NamedPolicyOut = Type.Object({
  name: Type.String(),
  description: Type.String(),
  preset: Type.Boolean({ description: 'Presets come with Posthorn and stay as they are.' }),
  policy: PolicyData,
  createdAt: Nullable(Time),
  updatedAt: Nullable(Time),
});
export type NamedPolicyOut = Static<typeof NamedPolicyOut>;
export const SimulateIn = Type.Object({
  policy: PolicyIn,
  outageMs: Type.Integer({ minimum: 0, description: 'How long the endpoint is down, from the first attempt on.' }),
  failure: Type.Optional(Type.Unsafe<number | string>({ type: ['integer', 'string'] })),
  attemptDurationMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 3_600_000 })),
  seed: Type.Optional(Type.Integer({ description: 'Draws the jitter; without it every draw is the middle.' })),
});
const SimulatedAttempt = Type.Object({
  number: Type.Integer(),
  startsAtMs: Type.Number(),
  outcome: Type.String(),
  decision: Type.Unsafe<object>({ type: 'object', additionalProperties: true }),
});
export const SimulateOut = Type.Object({
  attempts: Type.Unsafe<readonly Static<typeof SimulatedAttempt>[]>(Type.Array(SimulatedAttempt)),
  delivered: Type.Boolean(),
  deliveredAfterMs: Type.Optional(Type.Number()),
  lateMs: Type.Number(),
  summary: Type.String(),
});

const Scope = Type.Unsafe<'admin' | 'application' | 'read-only'>({
  type: 'string',
  enum: ['admin', 'application', 'read-only'],
});
export const TokenIn = Type.Object({
  name: Type.String(),
  scope: Scope,
  applicationId: Type.Optional(Nullable(Type.String())),
  expiresAt: Type.Optional(Nullable(Time)),
});
export const TokenOut = Type.Object({
  id: Type.String(),
  name: Type.String(),
  scope: Scope,
  applicationId: Nullable(Type.String()),
  createdAt: Time,
  updatedAt: Time,
  expiresAt: Nullable(Time),
});
export type TokenOut = Static<typeof TokenOut>;
export const NewTokenOut = Type.Object({ ...TokenOut.properties, token: Type.String() });
