/**
 * What can be done with records: the rules, without a transport. The API, the library and the CLI all come through here,
 * so that none of them can store what another would refuse.
 *
 * Refuses: HTTP, SQL, deciding about deliveries. Promises: an input is checked whole before anything is written; bad
 * input is a PosthornError that says where and what to do; secrets reach the store sealed and tokens hashed; the engine
 * is told about every change that concerns it, after the change is durable. The context's clock counts.
 */
export type { ApplicationInput, Applications } from './applications.ts';
export { kindOf, objectArgument, refuseUnknownKeys, textArgument } from './argument.ts';
export type { AttemptedDestination, AttemptedMessage, AttemptQuery, Attempts } from './attempts.ts';
export type { Context, Made, Remember } from './context.ts';
export type { DeadLetterArchive, Purged, Restored } from './dead-letter-archive.ts';
export { createDeadLetterCleaner } from './dead-letter-cleaner.ts';
export type { GroupQuery, GroupView } from './dead-letter-group.ts';
export type { DeadLetterReport, ReportedGroup, ReportQuery } from './dead-letter-report.ts';
export { checkMeant, type DeadLetterSelection, type Part } from './dead-letter-selection.ts';
export type { DeadLetter, DeadLetterDetail, DeadLetterQuery, DeadLetters, Taken } from './dead-letters.ts';
export type { Deliveries, DeliveryDetail } from './deliveries.ts';
export type { DeliveryQuery, DeliverySelection } from './delivery-query.ts';
export type { EndpointInput } from './endpoint-fields.ts';
export type { RotateInput } from './endpoint-secrets.ts';
export type { Endpoints, EndpointView } from './endpoints.ts';
export type { EventTypeChange, EventTypeInput, EventTypes } from './event-types.ts';
export { formatReport, type ReportLine, type ReportText } from './format-report.ts';
export { countByState, type ListedMessage, type LoggedMessage } from './message-log.ts';
export type { MessageQuery } from './message-query.ts';
export type { CheckedInput, Messages, PublishInput } from './messages.ts';
export type { Listing, PageRequest } from './paging.ts';
export { type Payload, toPayloadBytes } from './payload.ts';
export type { Policies, PolicyChange, PolicyView, SimulateInput } from './policies.ts';
export { checkInlinePolicy, type PolicyInput } from './policy-refs.ts';
export { PROGRESS, type Progress, progressOf } from './progress.ts';
export { createResources, type Resources } from './resources.ts';
export { checkSourceFields, type SourceInput } from './source-fields.ts';
export type { HandlerInput } from './source-handlers.ts';
export { openSettings, secretSetting, secretsIn } from './source-settings.ts';
export { type OpenUrlToken, openUrlTokens } from './source-url-tokens.ts';
export type { Sources, SourceView } from './sources.ts';
export { strictResources } from './strict-resources.ts';
export { makeToken, type TokenInput, type Tokens, type TokenView } from './tokens.ts';
export { type WebhookHealth, webhookHealth } from './webhook-health.ts';
