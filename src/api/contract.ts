/** The shapes on the wire, as schemas and as types. Inputs take what Svix clients of both generations send. */
import { type Static, type TSchema, type TUnsafe, Type } from 'typebox';

/** One type list instead of anyOf: a wrong value then gets one finding, not three. */
export function Nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  const { type } = schema as { type?: string | string[] };
  return Type.Unsafe({ ...schema, type: [type ?? [], 'null'].flat() });
}

const Time = Type.String({ format: 'date-time' });
const Metadata = Type.Record(Type.String(), Type.String());
const Rate = Type.Integer({ minimum: 1, maximum: 1_000_000 });
const PolicyIn = Type.Unsafe<string | object>({
  type: ['string', 'object'],
  description: 'The name of a preset or stored policy, or a policy written out.',
});
/** Whatever a policy holds: policy/ checks it and says better than a schema what is wrong. */
const PolicyData = Type.Unsafe<object>({ type: 'object', additionalProperties: true });

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

export { PolicyData, PolicyIn, Time };
