/**
 * HTTP in the wire format that the Svix SDKs speak: a thin layer over resources/.
 *
 * Refuses: rules of its own about records, SQL, deciding. Promises: every 4xx has a JSON body that says what to do,
 * no 5xx tells what is inside, a POST repeated under its idempotency key is done once, and a token reaches no further
 * than its scope.
 */
export type { Api, RouteGroup, Served } from './api.ts';
export type { EndpointOut } from './contract.ts';
export type { DeadLetterDetailOut, GroupOut, ReportOut } from './contract-dead-letter.ts';
export type { SourceOut } from './contract-ingest.ts';
export type { FollowedOut, LoggedDetailOut, LoggedOut } from './contract-message-log.ts';
export { providerOfType } from './routes/source.ts';
export { createServer, type ServerOptions } from './server.ts';
