/** A handler as `.on` is given it. What could never be called must not look as if it were in place. */
import { invalid } from '../../errors.ts';
import {
  checkInlinePolicy,
  kindOf,
  objectArgument,
  type PolicyInput,
  refuseUnknownKeys,
  textArgument,
} from '../../resources/index.ts';
import type { Handler } from '../handlers/handler.ts';
import { eventTypeName } from '../providers/index.ts';
import type { WantedHandler } from './declaration.ts';

export interface HandlerOptions {
  /** What it is known by when the process starts again; the event types without it. */
  readonly name?: string;
  readonly policy?: PolicyInput;
  /** Runs it inside the transaction that records it: `context.transaction`. Only where the store is PostgreSQL. */
  readonly transaction?: boolean;
}

/** `satisfies` keeps it whole: an option that is added to the type is missed here by the compiler. */
const OPTIONS = Object.keys({
  name: true,
  policy: true,
  transaction: true,
} satisfies Record<keyof HandlerOptions, true>);

export function wantedHandler(
  eventTypes: string | readonly string[],
  handler: Handler<never>,
  options: HandlerOptions,
): WantedHandler {
  refuseUnknownKeys(objectArgument(options, 'options'), { noun: 'an option of a handler', known: OPTIONS });
  checkEventTypes(eventTypes);
  checkFunction(handler);
  // As events are stored: Shopify's orders/create is the type orders.create.
  const types = eventTypes === '*' ? undefined : [eventTypes].flat().map(eventTypeName);
  const { name = types === undefined ? 'all' : types.join(', '), policy, transaction = false } = options;
  if (textArgument(name, 'name') === '') throw invalid(['name'], 'must not be empty: leave it out, or give it one');
  if (policy !== undefined) checkInlinePolicy(policy, ['policy']);
  return { name, eventTypes: types, handler: handler as Handler, policy, transaction };
}

function checkEventTypes(eventTypes: unknown): void {
  const types: readonly unknown[] = [eventTypes].flat();
  if (types.length === 0) throw invalid(['eventTypes'], 'names no event type: give some, or "*" for all');
  for (const type of types) {
    if (typeof type !== 'string' || type === '') throw invalid(['eventTypes'], 'must be event types, or "*" for all');
    if (type.includes('*') && eventTypes !== '*') {
      throw invalid(['eventTypes'], `has ${JSON.stringify(type)}: only "*" alone stands for others, name each type`);
    }
  }
}

function checkFunction(handler: unknown): void {
  if (typeof handler !== 'function') throw invalid(['handler'], `must be a function, not ${kindOf(handler)}`);
  // A call of one runs nothing of it: every event would count as handled.
  if (/Generator/.test(Object.prototype.toString.call(handler))) {
    throw invalid(['handler'], 'must be a function, not a generator, whose body no call runs: leave the * out');
  }
}
