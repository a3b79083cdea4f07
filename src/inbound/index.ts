/**
 * Receiving: a stranger's request becomes a stored event once it is verified, and an event becomes a call of a function.
 *
 * Refuses: storing anything that was not verified; telling strangers why; a policy of its own (policy/ decides what
 * follows an error, here errors only get their names). Promises: a 2xx means that the event is on disk; a second copy
 * of an event changes nothing; an event counts as processed only when its handlers have succeeded.
 */
export { type Handler, type HandlerContext, SILENT } from './handlers/handler.ts';
export { PermanentError, RetryableError } from './handlers/handler-errors.ts';
export { createHandlerRegistry } from './handlers/handler-registry.ts';
export type { HandlerOptions } from './library/declared-handler.ts';
export {
  type DeclaredSource,
  declareSource,
  type EventMap,
  type EventsByType,
} from './library/declared-source.ts';
export { DeclaredSources } from './library/declared-sources.ts';
export { nextRoute } from './library/next-route.ts';
export { receiveDirectly } from './library/receive-directly.ts';
export { receivingRoute } from './library/receivers.ts';
export type { SourceArguments, SourceOptions } from './library/source-arguments.ts';
export { WholeRequest } from './library/whole-request.ts';
export { LONGEST_DEDUPE_MS } from './providers/index.ts';
export { createReceiver, type Receiver } from './receive.ts';
export type { ReceivedNotice } from './received-notice.ts';
export { type CertificateOptions, createVerifyPorts } from './verify-ports.ts';
