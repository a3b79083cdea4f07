import { type Applications, createApplications } from './applications.ts';
import { type Attempts, createAttempts } from './attempts.ts';
import type { Context } from './context.ts';
import { createDeadLetters, type DeadLetters } from './dead-letters.ts';
import { createDeliveries, type Deliveries } from './deliveries.ts';
import { createEndpoints, type Endpoints } from './endpoints.ts';
import { createEventTypes, type EventTypes } from './event-types.ts';
import { createMessageLog, type MessageLog } from './message-log.ts';
import { createMessages, type Messages } from './messages.ts';
import { createPolicies, type Policies } from './policies.ts';
import { createSources, type Sources } from './sources.ts';
import { createTokens, type Tokens } from './tokens.ts';

/** Everything that can be done with records, by the API and by the library alike. */
export interface Resources {
  readonly applications: Applications;
  readonly messages: Messages;
  readonly messageLog: MessageLog;
  readonly attempts: Attempts;
  readonly deliveries: Deliveries;
  readonly deadLetters: DeadLetters;
  readonly endpoints: Endpoints;
  readonly eventTypes: EventTypes;
  readonly policies: Policies;
  readonly sources: Sources;
  readonly tokens: Tokens;
}

export function createResources(context: Context): Resources {
  const deliveries = createDeliveries(context);
  return {
    applications: createApplications(context),
    messages: createMessages(context),
    messageLog: createMessageLog(context),
    attempts: createAttempts(context),
    deliveries,
    deadLetters: createDeadLetters(context, deliveries),
    endpoints: createEndpoints(context),
    eventTypes: createEventTypes(context),
    policies: createPolicies(context),
    sources: createSources(context),
    tokens: createTokens(context),
  };
}
