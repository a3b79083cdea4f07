/**
 * Which test files run on which store. All of them run on SQLite; those that go through a rig of src/testing/test-store.ts
 * run again on PostgreSQL, and those whose deliveries keep real time once more with BullMQ as their dispatch. A queue keeps
 * real time: what moves a clock by hand is dispatched by the store, so on BullMQ it would only run a second time.
 * test/store-matrix.test.ts fails on a file that is missing here.
 */
export const ON_BULLMQ: readonly string[] = [
  'src/api/attempt.test.ts',
  'src/api/dead-letter-queue.test.ts',
  'src/api/dead-letter.test.ts',
  'src/api/delivery.test.ts',
  'src/api/message.test.ts',
  'src/inbound/handlers/bad-handlers.test.ts',
  'src/inbound/library/library.test.ts',
  'src/inbound/library/plain-connection.test.ts',
  'src/inbound/paypal.test.ts',
  'src/resources/lookup.test.ts',
  'src/resources/messages.test.ts',
  'src/resources/strict-resources.test.ts',
  'test/compat/svix-sdk.test.ts',
  'test/crash/kill.test.ts',
  'test/simulation/real-time.test.ts',
];

export const ON_POSTGRES: readonly string[] = [
  ...ON_BULLMQ,
  // Nothing in these two reaches a queue: handlers are called without one.
  'src/api/ingest.test.ts',
  'src/api/message-log.test.ts',
  'src/api/application.test.ts',
  'src/api/auth.test.ts',
  'src/api/endpoint-control.test.ts',
  'src/api/endpoint.test.ts',
  'src/api/errors.test.ts',
  'src/api/event-type.test.ts',
  'src/api/idempotency.test.ts',
  'src/api/paging.test.ts',
  'src/api/policy.test.ts',
  'src/api/server.test.ts',
  'src/api/svix-sdk.test.ts',
  'src/api/unknown-names.test.ts',
  'src/api/url-token.test.ts',
  'src/engine/engine.test.ts',
  'src/engine/lead.test.ts',
  'src/engine/log-events.test.ts',
  'src/engine/memory.test.ts',
  'src/engine/nodes.test.ts',
  'src/engine/work-due.test.ts',
  'src/inbound/handlers/handling.test.ts',
  'src/inbound/mailgun.test.ts',
  'src/inbound/open-sources.test.ts',
  'src/resources/argument.test.ts',
  'src/resources/dead-letter-cleaner.test.ts',
  'src/resources/dead-letters.test.ts',
  'src/resources/webhook-health.test.ts',
  'test/simulation/fairness.test.ts',
  'test/simulation/faults.test.ts',
];
