/** One run of a handler, within its time limit, as an Outcome. */
import type { Clock } from '../../clock.ts';
import type { HandlerCall, Logger } from '../../engine/index.ts';
import { describeError } from '../../errors.ts';
import type { Outcome } from '../../model/index.ts';
import type { Handler, HandlerContext } from './handler.ts';
import { parseBody } from './parse-body.ts';
import { toOutcome } from './to-outcome.ts';

export interface RunOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Never rejects, and settles at the time limit even when the function does not heed its signal: the attempt counts as
 * failed then, and whatever the function still does, it does beside the next attempt.
 */
export async function runHandler(handler: Handler, call: HandlerCall, options: RunOptions): Promise<Outcome> {
  const { clock } = options;
  const startedAt = clock.now();
  const controller = new AbortController();
  const elapsed = () => Math.max(0, clock.now() - startedAt);
  let resolve: (outcome: Outcome) => void = () => {};
  const ended = new Promise<Outcome>((settle) => {
    resolve = settle;
  });
  const end = (error: 'timeout' | 'interrupted', message: string) => {
    resolve({ kind: 'failure', error, message, durationMs: elapsed() });
    controller.abort(new Error(message));
  };
  const timer = clock.after(call.timeoutMs, () => {
    end('timeout', `the handler took longer than the ${call.timeoutMs} ms that its policy allows`);
  });
  const onStop = () => end('interrupted', 'the process stopped while the handler ran');
  call.signal.addEventListener('abort', onStop);
  if (call.signal.aborted) onStop();
  void run(handler, call, controller.signal, options).then(
    () => resolve({ kind: 'response', status: 200, body: '', bodyTruncated: false, durationMs: elapsed() }),
    (error: unknown) => resolve(toOutcome(error, elapsed())),
  );
  try {
    return await ended;
  } finally {
    timer.cancel();
    call.signal.removeEventListener('abort', onStop);
  }
}

async function run(handler: Handler, call: HandlerCall, signal: AbortSignal, { logger }: RunOptions): Promise<void> {
  const { delivery, received } = call;
  const event = eventOf(call);
  const eventId = received.eventId ?? delivery.messageId;
  const context: HandlerContext = {
    eventId,
    idempotencyKey: eventId,
    eventType: delivery.eventType,
    messageId: delivery.messageId,
    deliveryId: delivery.id,
    attempt: call.attempt,
    maxAttempts: call.maxAttempts,
    receivedAt: delivery.createdAt,
    headers: received.headers ?? {},
    body: delivery.payload,
    signal,
    logger,
    ...(call.transaction === undefined ? {} : { transaction: call.transaction }),
  };
  await handler(event, context);
}

/** Bytes that are no JSON now will be none later: only here does that mean that the event itself is wrong. */
function eventOf({ delivery, received }: HandlerCall): unknown {
  try {
    return parseBody(delivery.payload, received.contentType);
  } catch (cause) {
    const error = new Error(`the body of the event cannot be read: ${describeError(cause)}`, { cause });
    error.name = 'ValidationError';
    throw error;
  }
}
