export type { EngineEvent, Logger } from './engine/index.ts';
export { type ErrorCode, type Issue, isPosthornError, PosthornError } from './errors.ts';
export { type Handler, type HandlerContext, PermanentError, RetryableError } from './inbound/index.ts';
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
