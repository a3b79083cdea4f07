/**
 * A source that is declared in code, with its handlers. Declaring makes it so in the store, soon and once; a handler
 * that is no longer declared keeps its deliveries, for only a person can know that no process will have it again.
 */
import type { Clock } from '../../clock.ts';
import { closed, invalid, PosthornError } from '../../errors.ts';
import {
  checkSourceFields,
  type DeadLetters,
  kindOf,
  objectArgument,
  refuseUnknownKeys,
  textArgument,
} from '../../resources/index.ts';
import { failed } from '../answers.ts';
import type { Handler } from '../handlers/handler.ts';
import type { Receiver } from '../receive.ts';
import { Declaration, type DeclaringOptions, type WantedSource } from './declaration.ts';
import { type HandlerOptions, wantedHandler } from './declared-handler.ts';
import type { DeclaredSources } from './declared-sources.ts';
import { createReceivers, type Receivers } from './receivers.ts';
import type { SourceOptions } from './source-arguments.ts';
import { inWordsOfCall } from './words-of-call.ts';

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
  refuseUnknownKeys(given, { noun: `an option of the source ${JSON.stringify(name)}`, known: OPTIONS });
  const inWords = (error: unknown) => inWordsOfCall(error, { ...given, name });
  const wanted = wantedSource(name, given);
  try {
    checkSourceFields(wanted);
  } catch (error) {
    throw inWords(error);
  }
  const declaration = new Declaration(wanted, options, inWords);
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
      const wanted = wantedHandler(eventTypes, handler, handlerOptions);
      if (declaration.has(wanted.name)) throw nameTaken(name, wanted.name);
      if (wanted.transaction && !options.transactional) throw noTransactions(wanted.name);
      declaration.add(wanted);
      begin();
      return source;
    },
    ready,
    async removeHandler(handlerName) {
      textArgument(handlerName, 'name');
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

function wantedSource(name: string, { secret, provider = name, settings = {}, ...rest }: SourceOptions): WantedSource {
  objectArgument(settings, 'settings');
  if (secret !== undefined && settings.secret !== undefined) {
    throw invalid(['secret'], 'is also settings.secret, and both are given; give one of them');
  }
  return { ...rest, name, uid: name, provider, settings: { ...settings, ...(secret !== undefined && { secret }) } };
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
