/**
 * The words of Posthorn as types: records, states and the table of legal transitions. No behaviour, no I/O, no imports
 * from other rooms. Times are milliseconds since the Unix epoch, by the clock of whoever writes the record.
 */
export type { Application } from './application.ts';
export type { Attempt } from './attempt.ts';
export type { DeadCause, Decision } from './decision.ts';
export { DELIVERY_STATES, type Delivery, type DeliveryState, type Trigger } from './delivery.ts';
export { type Endpoint, type EndpointHealth, type EndpointSecret, type EndpointStatus, HEALTHY } from './endpoint.ts';
export type { EventType } from './event-type.ts';
export type { Message } from './message.ts';
export {
  ERROR_KINDS,
  type ErrorKind,
  type FailureOutcome,
  type Outcome,
  type ResponseOutcome,
  SENDING_ERROR_KINDS,
} from './outcome.ts';
export type {
  Condition,
  Jitter,
  NamedPolicy,
  OnExhausted,
  Policy,
  PolicyRef,
  RedirectMode,
  RetryAfter,
  Rule,
  Schedule,
} from './policy.ts';
export type { Dedupe, OnUnknownEvent, Source, UrlToken } from './source.ts';
export type { Token, TokenScope } from './token.ts';
export { FINAL_STATES, isLegalTransition, LEGAL_TRANSITIONS } from './transitions.ts';
