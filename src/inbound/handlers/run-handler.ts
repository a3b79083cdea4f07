/** One run of a handler, within its time limit, as an Outcome. */
import type { Clock } from '../../clock.ts';
import type { HandlerCall, Logger } from '../../engine/index.ts';
import { describeError } from '../../errors.ts';
import type { Outcome } from '../../model/index.ts';
import { BreakOff } from './break-off.ts';
import type { Handler, HandlerContext } from './handler.ts';
import { parseBody } from './parse-body.ts';
import { isResponse, toOutcome } from './to-outcome.ts';

export interface RunOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Never throws or rejects, and settles at the time limit even when the function does not heed its signal: the attempt
 * counts as failed then, and whatever the function still does, it does beside the next attempt.
 */
export function runHandler(handler: Handler, call: HandlerCall, options: RunOptions): Outcome | Promise<Outcome> {
  const { clock } = options;
  const startedAt = clock.now();
  if (call.signal.aborted) return failure('interrupted', STOPPED, 0);
  const breakOff = new BreakOff();
  try {
    const returned = handler(eventOf(call), contextOf(call, breakOff, options.logger));
    if (isThenable(returned)) return withinTime(returned, call, breakOff, clock, startedAt);
    // It is over before anything could break it off: neither a timer nor a listener is for it.
    return returning(returned, elapsedMs(clock, startedAt));
  } catch (error) {
    return toOutcome(error, elapsedMs(clock, startedAt));
  }
}

function withinTime(
  returned: PromiseLike<unknown>,
  call: HandlerCall,
  breakOff: BreakOff,
  clock: Clock,
  startedAt: number,
): Promise<Outcome> {
  const { timeoutMs } = call;
  return new Promise((resolve) => {
    const settle = (outcome: Outcome) => {
      timer.cancel();
      unlisten();
      resolve(outcome);
    };
    const end = (error: 'timeout' | 'interrupted', message: string) => {
      settle(failure(error, message, elapsedMs(clock, startedAt)));
      breakOff.abort(new Error(message));
    };
    const unlisten = BreakOff.listen(call.signal, () => end('interrupted', STOPPED));
    // What it did before it first waited was on its time too.
    const timer = clock.after(timeoutMs - elapsedMs(clock, startedAt), () => {
      end('timeout', `the handler took longer than the ${timeoutMs} ms that its policy allows`);
    });
    // A thenable of somebody else's may throw, or call back twice: a promise of our own takes it in.
    Promise.resolve(returned).then(
      (value) => settle(returning(value, elapsedMs(clock, startedAt))),
      (error: unknown) => settle(toOutcome(error, elapsedMs(clock, startedAt))),
    );
  });
}

const STOPPED = 'the process stopped while the handler ran';

/**
 * What a context makes when it is asked for it: a copy of the bytes, for other handlers and endpoints get the same event from the
 * same memory, and a signal, which costs more than all the rest of this and which most handlers never ask for.
 */
class WhenAsked {
  readonly #payload: Uint8Array;
  readonly #breakOff: BreakOff;
  #body: Uint8Array | undefined;

  constructor(payload: Uint8Array, breakOff: BreakOff) {
    this.#payload = payload;
    this.#breakOff = breakOff;
  }

  get body(): Uint8Array {
    this.#body ??= new Uint8Array(this.#payload);
    return this.#body;
  }

  get signal(): AbortSignal {
    return this.#breakOff.signal;
  }
}

const whenAsked = Symbol('when asked');
type WithLater = { readonly [whenAsked]: WhenAsked };

/**
 * The context's own, so that they are in a copy of it (`{ ...context, database }`). With getters of each context, as a literal
 * makes them, V8 keeps each as a dictionary: 2 µs an event, and two fifths of what outlived the collections of the young
 * (November 2026).
 */
const BODY = lazy((made) => made.body);
const SIGNAL = lazy((made) => made.signal);

function lazy(get: (made: WhenAsked) => unknown): PropertyDescriptor & ThisType<WithLater> {
  return {
    enumerable: true,
    get() {
      return get(this[whenAsked]);
    },
  };
}

function contextOf(call: HandlerCall, breakOff: BreakOff, logger: Logger): HandlerContext {
  const { delivery, received } = call;
  const eventId = received.eventId ?? delivery.messageId;
  const context: { -readonly [K in keyof HandlerContext]?: HandlerContext[K] } = {
    eventId,
    idempotencyKey: eventId,
    eventType: delivery.eventType,
    messageId: delivery.messageId,
    deliveryId: delivery.id,
    attempt: call.attempt,
    maxAttempts: call.maxAttempts,
    receivedAt: delivery.createdAt,
    headers: { ...received.headers },
    logger,
  };
  if (call.transaction !== undefined) context.transaction = call.transaction;
  Object.defineProperty(context, whenAsked, { value: new WhenAsked(delivery.payload, breakOff) });
  Object.defineProperty(context, 'body', BODY);
  Object.defineProperty(context, 'signal', SIGNAL);
  return context as HandlerContext;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false;
  return typeof (value as { then?: unknown }).then === 'function';
}

function elapsedMs(clock: Clock, startedAt: number): number {
  return Math.max(0, clock.now() - startedAt);
}

/** `() => fetch(url)` throws nothing when the other server fails: its answer does as well as an error. */
function returning(value: unknown, durationMs: number): Outcome {
  if (isResponse(value) && value.status >= 400) return toOutcome(value, durationMs);
  return { kind: 'response', status: 200, body: '', bodyTruncated: false, durationMs };
}

function failure(error: 'timeout' | 'interrupted', message: string, durationMs: number): Outcome {
  return { kind: 'failure', error, message, durationMs };
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
