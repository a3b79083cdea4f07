/** The shapes of messages, attempts and deliveries on the wire. */
import { type Static, type TSchema, Type } from 'typebox';
import { DELIVERY_STATES } from '../model/index.ts';
import { ApplicationIn, Nullable, PageQuery, Time } from './contract.ts';

export const Words = <T extends string>(words: readonly T[]) => Type.Unsafe<T>({ type: 'string', enum: [...words] });
const Json = (description: string) => Type.Unsafe<object>({ type: 'object', additionalProperties: true, description });
const Optional = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema));

/** 0 success, 1 pending, 2 fail, 3 sending, 4 canceled. */
const Status = Type.Unsafe<number>({ type: 'integer', enum: [0, 1, 2, 3, 4] });
const StatusText = Words(['success', 'pending', 'fail', 'sending', 'canceled']);
const StatusCodeClass = Type.Unsafe<number>({ type: 'integer', enum: [0, 100, 200, 300, 400, 500] });

export const MessagePath = Type.Object({ app: Type.String(), msg: Type.String() });
export const EndpointPath = Type.Object({ app: Type.String(), endpoint: Type.String() });
export const MessageEndpointPath = Type.Object({ app: Type.String(), msg: Type.String(), endpoint: Type.String() });
export const AttemptPath = Type.Object({ app: Type.String(), msg: Type.String(), attempt: Type.String() });
export const DeliveryPath = Type.Object({ delivery: Type.String() });

export const ContentQuery = {
  with_content: Type.Optional(Type.Boolean({ description: 'Whether bodies are included; true without it.' })),
};
export const TimeQuery = {
  ...PageQuery,
  before: Type.Optional(Type.String({ description: 'Only what is older than this date.' })),
  after: Type.Optional(
    Type.String({
      description:
        'Only what is newer than this date. Alone, in lists of messages and attempts, the first page is the oldest after it, and its prevIterator leads on to newer ones.',
    }),
  ),
  event_types: Type.Optional(Type.Array(Type.String(), { description: 'Separated by commas.' })),
};
export const MessageListQuery = Type.Object({
  ...TimeQuery,
  ...ContentQuery,
  channel: Type.Optional(Type.String()),
  tag: Type.Optional(Type.String()),
});
export const AttemptListQuery = Type.Object({
  ...MessageListQuery.properties,
  status: Type.Optional(Status),
  status_code_class: Type.Optional(StatusCodeClass),
  with_msg: Type.Optional(Type.Boolean()),
  endpoint_id: Type.Optional(Type.String()),
});
export const AttemptedMessageQuery = Type.Object({
  ...MessageListQuery.properties,
  status: Type.Optional(Status),
  expanded_statuses: Type.Optional(Type.Boolean({ description: 'Tell canceled (4) from failed (2).' })),
});
export const AttemptedDestinationQuery = Type.Object({
  ...PageQuery,
  expanded_statuses: AttemptedMessageQuery.properties.expanded_statuses,
});

const payload = Json(
  'The body of the webhook, a JSON object. Its text is stored and sent exactly as it is written here.',
);

/** Fields that are not named here are ignored, as Svix does; those of its cloud that are promises are refused instead. */
export const MessageIn = Type.Object({
  eventType: Type.String(),
  payload: Type.Optional(payload),
  data: Type.Optional({ ...payload, description: 'Another name of payload.' }),
  eventId: Optional(Type.String({ description: 'Your own id of the event; unique in the application.' })),
  channels: Optional(Type.Array(Type.String())),
  tags: Optional(Type.Array(Type.String())),
  application: Optional(ApplicationIn),
  transformationsParams: Optional(Json('{"rawPayload": "…"}: text to send in place of the payload; a JSON object.')),
  payloadRetentionPeriod: Optional(Type.Integer({ minimum: 5, maximum: 90, description: 'Accepted; has no effect.' })),
  payloadRetentionHours: Optional(Type.Integer({ minimum: 1, description: 'Accepted; has no effect.' })),
  deliverAt: Optional(Type.String({ description: 'Not possible: refused, rather than sent too early.' })),
});
export type MessageIn = Static<typeof MessageIn>;

export const MessageOut = Type.Object({
  id: Type.String(),
  eventId: Nullable(Type.String()),
  eventType: Type.String(),
  channels: Nullable(Type.Array(Type.String())),
  tags: Nullable(Type.Array(Type.String())),
  timestamp: Time,
  payload: Json('As published, or {} without content. A received body that is no JSON is a string.'),
  headers: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'Of a received message.' })),
  contentType: Type.Optional(Nullable(Type.String())),
  conflicts: Type.Optional(Type.Integer({ description: 'How often the same event id came with another body.' })),
});

const DecisionOut = Type.Object({
  kind: Words(['delivered', 'retry', 'dead']),
  reason: Type.String(),
  delayMs: Type.Optional(Type.Integer()),
  source: Type.Optional(Words(['schedule', 'retry-after', 'interrupted'])),
  cause: Type.Optional(Words(['exhausted', 'rejected'])),
});

export const AttemptOut = Type.Object({
  id: Type.String(),
  msgId: Type.String(),
  endpointId: Type.String(),
  deliveryId: Type.String(),
  number: Type.Integer(),
  url: Type.String(),
  response: Type.String(),
  responseTruncated: Type.Boolean(),
  responseStatusCode: Type.Integer(),
  responseDurationMs: Type.Integer(),
  error: Nullable(Type.String()),
  status: Status,
  statusText: StatusText,
  triggerType: Type.Integer({ description: '0 scheduled, 1 manual.' }),
  timestamp: Time,
  decision: DecisionOut,
  msg: Type.Optional(MessageOut),
});
export type AttemptOut = Static<typeof AttemptOut>;

const ProgressOut = { status: Status, statusText: StatusText, nextAttempt: Nullable(Time) };
export const AttemptedMessageOut = Type.Object({ ...MessageOut.properties, ...ProgressOut });
export const AttemptedDestinationOut = Type.Object({
  id: Type.String(),
  uid: Nullable(Type.String()),
  url: Type.String(),
  description: Type.String(),
  version: Type.Integer(),
  disabled: Type.Boolean(),
  deleted: Type.Boolean(),
  channels: Nullable(Type.Array(Type.String())),
  filterTypes: Nullable(Type.Array(Type.String())),
  eventTypes: Nullable(Type.Array(Type.String())),
  rateLimit: Nullable(Type.Integer()),
  throttleRate: Nullable(Type.Integer()),
  createdAt: Time,
  updatedAt: Time,
  ...ProgressOut,
});
export type AttemptedDestinationOut = Static<typeof AttemptedDestinationOut>;

export const DeliveryOut = Type.Object({
  id: Type.String(),
  applicationId: Type.String(),
  msgId: Type.String(),
  endpointId: Type.String(),
  eventType: Type.String(),
  state: Words(DELIVERY_STATES),
  reason: Type.String({ description: 'Why it is in this state.' }),
  trigger: Words(['scheduled', 'manual']),
  attemptCount: Type.Integer(),
  scheduleAttemptCount: Type.Integer({ description: 'Of them, those of the current schedule.' }),
  nextAttempt: Nullable(Time),
  deadCause: Nullable(Words(['exhausted', 'rejected'])),
  deadAt: Nullable(Time),
  fingerprint: Nullable(Type.String({ description: 'What a dead letter died of: the same for the same error.' })),
  lastError: Nullable(Type.String({ description: 'The error that a dead letter died of, in a line.' })),
  createdAt: Time,
  updatedAt: Time,
});
export type DeliveryOut = Static<typeof DeliveryOut>;
export const DeliveryDetailOut = Type.Object({ ...DeliveryOut.properties, attempts: Type.Array(AttemptOut) });

export const Selection = {
  application: Type.Optional(Type.String()),
  endpoint: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
};
export const DeliveryListQuery = Type.Object({
  ...Selection,
  ...TimeQuery,
  state: Type.Optional(Type.Array(Type.String(), { description: `Of ${DELIVERY_STATES.join(', ')}.` })),
});
