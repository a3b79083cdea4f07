import type { RouteGroup } from '../api.ts';
import { applicationRoutes } from './application.ts';
import { attemptRoutes } from './attempt.ts';
import { deadLetterRoutes } from './dead-letter.ts';
import { deliveryRoutes } from './delivery.ts';
import { endpointRoutes } from './endpoint.ts';
import { endpointControlRoutes } from './endpoint-control.ts';
import { eventTypeRoutes } from './event-type.ts';
import { messageRoutes } from './message.ts';
import { policyRoutes } from './policy.ts';
import { tokenRoutes } from './token.ts';

/** Every resource's routes, in the order of the OpenAPI file. */
export const routes: readonly RouteGroup[] = [
  applicationRoutes,
  endpointRoutes,
  endpointControlRoutes,
  eventTypeRoutes,
  messageRoutes,
  attemptRoutes,
  deliveryRoutes,
  deadLetterRoutes,
  policyRoutes,
  tokenRoutes,
];
