export type { Clock } from './clock.ts';
export type { DeadLetterNotice, EngineEvent, Logger, WorkedOff } from './engine/index.ts';
export { type ErrorCode, type Issue, isPosthornError, PosthornError } from './errors.ts';
export {
  type CertificateOptions,
  type DeclaredSource,
  type EventMap,
  type EventsByType,
  type Handler,
  type HandlerContext,
  type HandlerOptions,
  nextRoute,
  PermanentError,
  type ReceivedNotice,
  RetryableError,
  type SourceArguments,
  type SourceOptions,
} from './inbound/index.ts';
export type {
  Application,
  Attempt,
  Decision,
  Delivery,
  DeliveryState,
  Endpoint,
  EndpointHealth,
  EventType,
  Message,
  NamedPolicy,
  Policy,
} from './model/index.ts';
export { createPosthorn, type Posthorn, type PosthornOptions } from './posthorn.ts';
export { type DeadLetterReport, formatReport, type WebhookHealth } from './resources/index.ts';
