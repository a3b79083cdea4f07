/**
 * A source that is declared in code, with its handlers. Declaring makes it so in the store, soon and once; a handler
 * that is no longer declared keeps its deliveries, for only a person can know that no process will have it again.
 */
import type { Clock } from '../../clock.ts';
import { closed, invalid, PosthornError } from '../../errors.ts';
import {
  type DeadLetters,
  kindOf,
  type PolicyInput,
  refuseUnknownKeys,
  type SourceInput,
} from '../../resources/index.ts';
import { failed } from '../answers.ts';
import type { Handler } from '../handlers/handler.ts';
import { eventTypeName, type ProviderName, type SettingsOf } from '../providers/index.ts';
import type { Receiver } from '../receive.ts';
import { Declaration, type DeclaringOptions } from './declaration.ts';
import type { DeclaredSources } from './declared-sources.ts';
import { createReceivers, type Receivers } from './receivers.ts';

export interface SourceOptions extends Omit<SourceInput, 'name' | 'uid' | 'provider' | 'policy'> {
  /** The source's own name without it. */
  readonly provider?: string;
  /** The provider's secret, or several while one is being changed; instead of `settings` where that is all it needs. */
  readonly secret?: string | readonly string[];
  readonly policy?: PolicyInput;
}

/**
 * A source's name and options, whose settings must be those of its provider: the one that `provider` names, or the one that
 * the source is named after.
 */
export type SourceArguments = {
  [P in ProviderName]:
    | [name: P, options: Typed<P> & { readonly provider?: P }]
    | [name: string, options: Typed<P> & { readonly provider: P }];
}[ProviderName];

type Typed<P extends ProviderName> = Omit<SourceOptions, 'provider' | 'settings'> & {
  readonly settings?: SettingsOf<P>;
};

export interface HandlerOptions {
  /** What it is known by when the process starts again; the event types without it. */
  readonly name?: string;
  readonly policy?: PolicyInput;
  /** Runs it inside the transaction that records it: `context.transaction`. Only where the store is PostgreSQL. */
  readonly transaction?: boolean;
}

/** Event types and the events that go with them. For Stripe: `EventsByType<Stripe.Event>`. */
// biome-ignore lint/suspicious/noExplicitAny: without a map, a handler may say itself what it takes
export type EventMap = Readonly<Record<string, any>>;
export type EventsByType<E extends { readonly type: string }> = { readonly [T in E as T['type']]: T };

export interface DeclaredSource<Events extends object = EventMap> extends Receivers {
  on<T extends keyof Events & string>(
    eventTypes: T | readonly T[],
    handler: Handler<Events[T]>,
    options?: HandlerOptions,
  ): this;
  on(eventTypes: '*', handler: Handler<Events[keyof Events]>, options?: HandlerOptions): this;
  /** Resolves when the source and all its handlers are in the store; rejects when one of them cannot be. */
  ready(): Promise<void>;
  /** For a handler that was renamed or given up: what still waits for it is cancelled, and it gets no more events. */
  removeHandler(name: string): Promise<void>;
  /** Sends the dead letters of one event again, by the provider's id of it; how many there were. */
  retry(eventId: string): Promise<number>;
}

export interface DeclaredSourceOptions extends DeclaringOptions {
  readonly receiver: Receiver;
  readonly deadLetters: Pick<DeadLetters, 'retryAll'>;
  readonly clock: Clock;
  readonly declared: DeclaredSources;
  /** Whether the store can run handlers inside its own transaction. */
  readonly transactional: boolean;
  /** Whether what it is declared for was closed: nothing can be declared any more. */
  readonly isClosed: () => boolean;
}

export function declareSource<Events extends object>(
  name: string,
  given: SourceOptions,
  options: DeclaredSourceOptions,
): DeclaredSource<Events> {
  const { sources, handlers, receiver, clock, logger, isClosed, declared } = options;
  if (isClosed()) throw closed();
  checkArguments(name, given);
  const { secret, provider = name, settings, ...rest } = given;
  refuseUnknownKeys(given, { noun: `an option of the source ${JSON.stringify(name)}`, known: OPTIONS });
  const wanted = {
    ...rest,
    name,
    uid: name,
    provider,
    settings: { ...settings, ...(secret !== undefined && { secret }) },
  };
  const declaration = new Declaration(wanted, options);
  // Nobody asking must not end the process: what fails is in the log, and the next request asks again.
  const begin = () => declared.follow(declaration.made());
  declared.add(name, given, logger);

  async function ready(): Promise<void> {
    if (isClosed()) throw closed();
    await declaration.made();
    await warnOfOthers();
  }

  /** When other modules have got theirs in place: a handler that is being declared is not one that this process lacks. */
  async function warnOfOthers(): Promise<void> {
    await declared.settled();
    await declaration.warnOfOthers();
  }

  const source: DeclaredSource<Events> = {
    on(eventTypes: string | readonly string[], handler: Handler<never>, handlerOptions: HandlerOptions = {}) {
      if (isClosed()) throw closed();
      refuseUnknownKeys(handlerOptions, { noun: 'an option of a handler', known: HANDLER_OPTIONS });
      checkHandler(eventTypes, handler);
      // As events are stored: Shopify's orders/create is the type orders.create.
      const types = eventTypes === '*' ? undefined : [eventTypes].flat().map(eventTypeName);
      const { policy, transaction = false, name: given } = handlerOptions;
      const handlerName = given ?? (types === undefined ? 'all' : types.join(', '));
      if (declaration.has(handlerName)) throw nameTaken(name, handlerName);
      if (transaction && !options.transactional) throw noTransactions(handlerName);
      declaration.add({ name: handlerName, eventTypes: types, handler: handler as Handler, policy, transaction });
      begin();
      return source;
    },
    ready,
    async removeHandler(handlerName) {
      if (declaration.has(handlerName)) throw stillDeclared(name, handlerName);
      await declaration.made();
      const found = (await sources.listHandlers(name)).find((each) => each.name === handlerName);
      if (found !== undefined && handlers.has(found.id)) throw stillDeclared(name, handlerName);
      await sources.removeHandler(name, handlerName);
    },
    async retry(eventId) {
      if (typeof eventId !== 'string' || eventId === '') {
        throw invalid(['eventId'], `must be the provider's id of the event, not ${kindOf(eventId)}`, 'type_error');
      }
      await declaration.made();
      return options.deadLetters.retryAll({ source: name, message: eventId });
    },
    ...createReceivers(
      {
        ...receiver,
        async receive(_, request) {
          try {
            await declaration.made();
          } catch (error) {
            return failed(error);
          }
          void warnOfOthers();
          return receiver.receive(name, request);
        },
      },
      { clock, logger, name },
    ),
  };
  begin();
  return source;
}

/** `satisfies` keeps it whole: an option that is added to the type is missed here by the compiler. */
const OPTIONS = Object.keys({
  provider: true,
  secret: true,
  settings: true,
  policy: true,
  onUnknownEvent: true,
  dedupe: true,
  forwardAs: true,
  metadata: true,
} satisfies Record<keyof SourceOptions, true>);
const HANDLER_OPTIONS = Object.keys({
  name: true,
  policy: true,
  transaction: true,
} satisfies Record<keyof HandlerOptions, true>);

/** Callers in plain JavaScript may give the secret where the options go: no message repeats it. */
function checkArguments(name: unknown, given: unknown): void {
  if (typeof name !== 'string') {
    throw invalid(['name'], `must be a string, not ${kindOf(name)}: source('stripe', { secret: '…' })`, 'type_error');
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const call = `source('${name}', { secret: '…' })`;
    throw invalid(['options'], `must be an object, not ${kindOf(given)}: ${call}`, 'type_error');
  }
}

function nameTaken(source: string, handler: string): PosthornError {
  return new PosthornError(
    'conflict',
    `The source ${source} has two handlers called "${handler}": give each a name of its own, as in .on(type, handler, { name: 'mail' }).`,
  );
}

function stillDeclared(source: string, handler: string): PosthornError {
  return new PosthornError(
    'conflict',
    `This process declares the handler "${handler}" of ${source} itself: take its .on(…) out of the code first.`,
  );
}

function noTransactions(handler: string): PosthornError {
  return new PosthornError(
    'config_invalid',
    `The handler "${handler}" asks for { transaction: true }, which needs a store on PostgreSQL. On SQLite, leave it out and write under context.eventId, so that a second run changes nothing.`,
  );
}

/** What could never be called must not look as if it were in place. */
function checkHandler(eventTypes: unknown, handler: unknown): void {
  const types: readonly unknown[] = [eventTypes].flat();
  if (types.length === 0) throw invalid(['eventTypes'], 'names no event type: give some, or "*" for all');
  for (const type of types) {
    if (typeof type !== 'string' || type === '') throw invalid(['eventTypes'], 'must be event types, or "*" for all');
    if (type.includes('*') && eventTypes !== '*') {
      throw invalid(['eventTypes'], `has ${JSON.stringify(type)}: only "*" alone stands for others, name each type`);
    }
  }
  if (typeof handler !== 'function') throw invalid(['handler'], `must be a function, not ${kindOf(handler)}`);
}
