/** One attempt, as one short path: sign → send (or handle) → decide → record. */
import type { Clock } from '../clock.ts';
import { describeError } from '../errors.ts';
import { type Ids, twinId } from '../ids.ts';
import type { Attempt, Decision, Outcome } from '../model/index.ts';
import type { Sender } from '../outbound/index.ts';
import { decide } from '../policy/index.ts';
import { signatureHeaders } from '../signing/index.ts';
import type { RecordItem, TransactClient } from '../store/index.ts';
import type { Target } from './directory.ts';
import { passedThrough } from './forwarded-headers.ts';
import type { HandlerCall, Handlers, Received } from './handling.ts';
import type { Job } from './lane.ts';

export interface DeliverOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly sender: Sender;
  /** Send `svix-*` header names beside the standard ones. */
  readonly svixNames: boolean;
  readonly handlers: Handlers;
}

/** Runs the function that this process has for the destination. Never rejects for what the function threw. */
export function handle(
  job: Job,
  target: Target,
  received: Received,
  signal: AbortSignal,
  options: Pick<DeliverOptions, 'handlers'>,
  transaction?: TransactClient,
): Outcome | Promise<Outcome> {
  const call: { -readonly [K in keyof HandlerCall]: HandlerCall[K] } = {
    delivery: job.delivery,
    received,
    attempt: job.delivery.scheduleAttempts + 1,
    maxAttempts: target.maxAttempts,
    timeoutMs: target.policy.timeouts.totalMs,
    signal,
  };
  if (transaction !== undefined) call.transaction = transaction;
  return options.handlers.handle(call);
}

/** Makes the attempt. Never rejects for what the endpoint or the network did. */
export function send(
  job: Job,
  target: Target,
  received: Received | undefined,
  startedAt: number,
  signal: AbortSignal,
  options: DeliverOptions,
): Outcome | Promise<Outcome> {
  const { delivery } = job;
  if (target.signer === undefined) return unexpected(new Error(target.signerProblem));
  const headers =
    target.forwardAs === 'pass-through'
      ? passedThrough(received?.headers ?? {})
      : signatureHeaders(
          target.signer,
          {
            messageId: delivery.messageId,
            timestampS: Math.floor(startedAt / 1000),
            payload: delivery.payload,
            attemptNumber: delivery.scheduleAttempts + 1,
          },
          { svixNames: options.svixNames },
        );
  if (received !== undefined && target.forwardAs !== 'pass-through') tellOrigin(headers, delivery, received);
  headers.push('content-type', received?.contentType ?? 'application/json', ...target.headers);
  return options.sender.send({
    url: target.url,
    headers,
    body: delivery.payload,
    connectTimeoutMs: target.policy.timeouts.connectMs,
    totalTimeoutMs: target.policy.timeouts.totalMs,
    redirects: target.policy.redirects,
    // Customers put credentials under names of their own: none of them follows a redirect to another host.
    crossOriginDropHeaders: target.headerNames,
    signal,
  });
}

/** Of an event that is sent on signed anew: many providers name its type and id in headers only, which stay behind. */
function tellOrigin(headers: string[], { eventType }: Job['delivery'], { eventId }: Received): void {
  headers.push('x-webhook-event-type', eventType);
  if (eventId !== undefined) headers.push('x-webhook-event-id', eventId);
}

/** What the attempt comes to: the decision, and the record of it. */
export function conclude(
  job: Job,
  target: Target,
  startedAt: number,
  outcome: Outcome,
  options: Pick<DeliverOptions, 'clock' | 'ids'>,
): RecordItem {
  const { delivery } = job;
  const now = options.clock.now();
  const uncounted = !counts(job, outcome);
  const scheduleAttempts = delivery.scheduleAttempts + (uncounted ? 0 : 1);
  const firstAttemptAt = delivery.firstAttemptAt ?? startedAt;
  const { messageId, id: deliveryId } = delivery;
  const facts = { messageId, deliveryId, attempt: scheduleAttempts, uncounted, firstAttemptAt, now, outcome };
  const decision = decide(facts, target.policy, options.ids.draw());
  const cameBack = whatCameBack(outcome, decision.kind === 'delivered');
  // Assigned one by one, here and wherever every delivery passes: V8 writes what follows a spread the slow way.
  const attempt: { -readonly [K in keyof Attempt]: Attempt[K] } = {
    id: isQuickSuccess(job, decision, now) ? twinId('atmpt', delivery.id) : options.ids.next('atmpt'),
    deliveryId: delivery.id,
    messageId: delivery.messageId,
    applicationId: delivery.applicationId,
    destinationId: delivery.destinationId,
    eventType: delivery.eventType,
    number: delivery.attempts + 1,
    trigger: delivery.trigger,
    url: target.endpoint.url,
    startedAt,
    durationMs: Math.max(0, now - startedAt),
    status: cameBack.status,
    response: cameBack.response,
    responseTruncated: cameBack.responseTruncated,
    decision,
  };
  if (cameBack.error !== undefined) attempt.error = cameBack.error;
  return { attempt, scheduleAttempts, firstAttemptAt, maxAttempts: target.maxAttempts };
}

/**
 * How long after its delivery was made an attempt may still take that one's place in the list of attempts, which is by id. Who
 * follows the list as it grows must look back so far (resources/settled-listing.ts).
 */
const QUICK_MS = 1000;

/** Such a one needs no row of its own (store/first-success.ts). */
function isQuickSuccess({ handedAt }: Job, decision: Decision, now: number): boolean {
  return decision.kind === 'delivered' && handedAt !== undefined && now - handedAt <= QUICK_MS;
}

/**
 * An interrupted attempt does not use up the policy's: it may never have been sent. After a few of them it does, so that
 * a message that kills its process comes to an end; after a retry by hand it does at once, for what came before it stands
 * in the same difference.
 */
const FREE_INTERRUPTIONS = 5;

function counts({ delivery }: Job, outcome: Outcome): boolean {
  const isInterrupted = outcome.kind === 'failure' && outcome.error === 'interrupted';
  return !isInterrupted || delivery.attempts - delivery.scheduleAttempts >= FREE_INTERRUPTIONS;
}

/** A success needs no more than a glimpse of its answer; a failure's is kept up to the sender's cap. */
const SUCCESS_RESPONSE_CHARS = 1024;

function whatCameBack(
  outcome: Outcome,
  delivered: boolean,
): Pick<Attempt, 'status' | 'error' | 'response' | 'responseTruncated'> {
  if (outcome.kind === 'failure') {
    return { status: 0, error: outcome.error, response: outcome.message, responseTruncated: false };
  }
  const cut = delivered && outcome.body.length > SUCCESS_RESPONSE_CHARS;
  return {
    status: outcome.status,
    response: cut ? outcome.body.slice(0, SUCCESS_RESPONSE_CHARS) : outcome.body,
    responseTruncated: cut || outcome.bodyTruncated,
  };
}

/** What went wrong on our own side, as an outcome: it is recorded, and the policy says what follows. */
export function unexpected(error: unknown): Outcome {
  return { kind: 'failure', error: 'unexpected', message: describeError(error), durationMs: 0 };
}

/** What a handler ended by itself can be neither undone nor recorded in one commit: trying it again would write it twice. */
export function endedInside(outcome: Outcome): Outcome {
  const then = outcome.kind === 'failure' ? `. It then failed: ${outcome.message}` : '';
  return {
    kind: 'failure',
    error: 'permanent',
    message: `the handler ended its transaction itself (by COMMIT, ROLLBACK or RESET ALL), so that what it wrote and what is recorded may differ: leave BEGIN, COMMIT and ROLLBACK to Posthorn, look at what it wrote, and only then retry the event${then}`,
    durationMs: 0,
  };
}

/** The outcome of an attempt that nobody saw the end of. */
export function interrupted(message: string): Outcome {
  return { kind: 'failure', error: 'interrupted', message, durationMs: 0 };
}
