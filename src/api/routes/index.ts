import type { RouteGroup } from '../api.ts';
import { applicationRoutes } from './application.ts';
import { attemptRoutes } from './attempt.ts';
import { deadLetterRoutes } from './dead-letter.ts';
import { deadLetterArchiveRoutes } from './dead-letter-archive.ts';
import { deadLetterBulkRoutes } from './dead-letter-bulk.ts';
import { deliveryRoutes } from './delivery.ts';
import { endpointRoutes } from './endpoint.ts';
import { endpointControlRoutes } from './endpoint-control.ts';
import { eventTypeRoutes } from './event-type.ts';
import { messageRoutes } from './message.ts';
import { messageLogRoutes } from './message-log.ts';
import { policyRoutes } from './policy.ts';
import { sourceRoutes } from './source.ts';
import { sourceEndpointRoutes } from './source-endpoint.ts';
import { tokenRoutes } from './token.ts';

/** The routes that Svix has too, in the order of the OpenAPI file. */
export const svixRoutes: readonly RouteGroup[] = [
  applicationRoutes,
  endpointRoutes,
  endpointControlRoutes,
  eventTypeRoutes,
  messageRoutes,
  attemptRoutes,
];

/** The routes that only Posthorn has, which come after them. */
export const ownRoutes: readonly RouteGroup[] = [
  messageLogRoutes,
  deliveryRoutes,
  deadLetterRoutes,
  deadLetterBulkRoutes,
  deadLetterArchiveRoutes,
  policyRoutes,
  tokenRoutes,
];

/** The routes under /ingest/api/v1, which Svix has too. */
export const ingestRoutes: readonly RouteGroup[] = [sourceRoutes, sourceEndpointRoutes];
