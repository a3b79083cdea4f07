/** The handlers of this process, by the destination that each of them is in the store. */
import type { Clock } from '../../clock.ts';
import type { HandlerCall, Handlers, Logger } from '../../engine/index.ts';
import type { Outcome } from '../../model/index.ts';
import type { Handler } from './handler.ts';
import { runHandler } from './run-handler.ts';

export interface Bound {
  /** `stripe: invoice.paid`, for log lines. */
  readonly title: string;
  /** Undefined: all of the source's. */
  readonly eventTypes: readonly string[] | undefined;
  readonly handler: Handler;
  readonly transaction?: boolean;
}

export interface HandlerRegistry extends Handlers {
  bind(destinationId: string, bound: Bound): void;
}

export function createHandlerRegistry(options: { readonly clock: Clock; readonly logger: Logger }): HandlerRegistry {
  const { logger } = options;
  const bound = new Map<string, Bound>();

  function handle(call: HandlerCall): Outcome | Promise<Outcome> {
    const { delivery, received, attempt } = call;
    const found = bound.get(delivery.destinationId);
    if (found === undefined) throw new Error(`this process has no handler for ${delivery.destinationId}`);
    const { title, eventTypes, handler } = found;
    const about = { eventId: received.eventId, eventType: delivery.eventType, handler: title, deliveryId: delivery.id };
    if (eventTypes !== undefined && !eventTypes.includes(delivery.eventType)) return unknownType(delivery, title);
    if (attempt === 1) logger.info(about, 'processing webhook event');
    else logger.info({ ...about, retry: attempt - 1, maxRetries: call.maxAttempts - 1 }, 'processing retry');
    return runHandler(handler, call, options);
  }

  return {
    ids: () => [...bound.keys()],
    has: (destinationId) => bound.has(destinationId),
    isTransactional: (destinationId) => bound.get(destinationId)?.transaction ?? false,
    bind: (destinationId, entry) => void bound.set(destinationId, entry),
    handle,
  };
}

/** It was accepted for a handler that has since been declared for other types, or was sent to it by hand. */
function unknownType({ eventType }: HandlerCall['delivery'], title: string): Outcome {
  const message = `the handler "${title}" is not for events of type ${eventType}`;
  return { kind: 'failure', error: 'unknown_event_type', message, durationMs: 0 };
}
