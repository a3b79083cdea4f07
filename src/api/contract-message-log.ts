/** The shapes of messages as they came in or went out: with their exact bytes, headers and what became of them. */
import { type Static, Type } from 'typebox';
import type { DeliveryState } from '../model/index.ts';
import { Nullable, PageQuery, Time } from './contract.ts';
import { DeliveryDetailOut, TimeQuery, Words } from './contract-delivery.ts';

export const WholeMessageOut = Type.Object({
  id: Type.String(),
  eventId: Nullable(Type.String()),
  eventType: Type.String(),
  timestamp: Time,
  contentType: Nullable(Type.String()),
  headers: Nullable(Type.Record(Type.String(), Type.String())),
  body: Type.String({ description: 'The exact bytes: as text, or in base64 when they are none.' }),
  bodyEncoding: Words(['utf8', 'base64']),
});
export type WholeMessageOut = Static<typeof WholeMessageOut>;

export const LoggedOut = Type.Object({
  id: Type.String(),
  applicationId: Type.String({ description: 'The owner: an application or a source.' }),
  eventId: Nullable(Type.String()),
  eventType: Type.String(),
  timestamp: Time,
  bytes: Type.Integer({ description: 'How long the body is.' }),
  conflicts: Type.Integer({ description: 'How often the same event id came with another body; the first is kept.' }),
  deliveryCounts: Type.Unsafe<Readonly<Partial<Record<DeliveryState, number>>>>({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description: 'How many of its deliveries are in which state; {} when it was for nobody.',
  }),
});
export type LoggedOut = Static<typeof LoggedOut>;

export const LoggedDetailOut = Type.Object({
  ...LoggedOut.properties,
  ...WholeMessageOut.properties,
  deliveries: Type.Array(DeliveryDetailOut),
});
export type LoggedDetailOut = Static<typeof LoggedDetailOut>;

export const FollowedOut = Type.Object({ data: Type.Array(WholeMessageOut), iterator: Type.String() });
export type FollowedOut = Static<typeof FollowedOut>;

const Owner = {
  application: Type.Optional(Type.String({ description: 'Id or uid of an application.' })),
  source: Type.Optional(Type.String({ description: 'Id or uid of a source, in place of an application.' })),
};
export const LogPath = Type.Object({ message: Type.String() });
export const LogQuery = Type.Object(Owner);
export const LogListQuery = Type.Object({
  ...Owner,
  ...PageQuery,
  before: TimeQuery.before,
  after: TimeQuery.after,
  event_types: TimeQuery.event_types,
});
export const FollowQuery = Type.Object({
  ...Owner,
  after: Type.Optional(Type.String({ description: 'The iterator of the last answer; without it, from now on.' })),
  known: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 250, description: 'How many after that iterator were seen already.' }),
  ),
  wait: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 25, description: 'How many seconds to wait for one; 0 without it.' }),
  ),
});
