/**
 * A source that is declared in code, with its handlers. Declaring makes it so in the store, soon and once; a handler
 * that is no longer declared keeps its deliveries, for only a person can know that no process will have it again.
 */
import type { Clock } from '../../clock.ts';
import { PosthornError } from '../../errors.ts';
import type { PolicyInput, SourceInput, Sources } from '../../resources/index.ts';
import type { Handler } from '../handlers/handler.ts';
import type { HandlerRegistry } from '../handlers/handler-registry.ts';
import type { Receiver } from '../receive.ts';
import { createReceivers, type Receivers } from './receivers.ts';

export interface SourceOptions extends Omit<SourceInput, 'name' | 'uid' | 'provider' | 'policy'> {
  /** The source's own name without it. */
  readonly provider?: string;
  /** The provider's secret, or several while one is being changed; instead of `settings` where that is all it needs. */
  readonly secret?: string | readonly string[];
  readonly policy?: PolicyInput;
}

export interface HandlerOptions {
  /** What it is known by when the process starts again; the event types without it. */
  readonly name?: string;
  readonly policy?: PolicyInput;
  /** Runs it inside the transaction that records it, where the store is PostgreSQL: `context.transaction`. */
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
}

export interface DeclaringOptions {
  readonly sources: Sources;
  readonly handlers: HandlerRegistry;
  readonly receiver: Receiver;
  readonly clock: Clock;
  /** This process has a new handler: what waits for it may be claimed. */
  readonly onHandler: () => void;
}

export function declareSource<Events extends object>(
  name: string,
  { secret, provider = name, settings, ...rest }: SourceOptions,
  options: DeclaringOptions,
): DeclaredSource<Events> {
  const { sources, handlers, receiver, clock } = options;
  const names = new Set<string>();
  const declared = sources.declare({
    ...rest,
    name,
    uid: name,
    provider,
    settings: { ...settings, ...(secret !== undefined && { secret }) },
  });
  let ready: Promise<unknown> = declared;
  // Whoever receives or asks for `ready` is told; nobody asking must not end the process.
  ready.catch(() => {});

  async function bind(
    handlerName: string,
    types: readonly string[] | undefined,
    handler: Handler,
    { policy, transaction = false }: HandlerOptions,
  ) {
    const { id } = await declared;
    const destinationId = await sources.declareHandler(id, { name: handlerName, eventTypes: types, policy });
    handlers.bind(destinationId, { title: `${name}: ${handlerName}`, eventTypes: types, handler, transaction });
    options.onHandler();
  }

  const source: DeclaredSource<Events> = {
    on(eventTypes: string | readonly string[], handler: Handler<never>, handlerOptions: HandlerOptions = {}) {
      const types = eventTypes === '*' ? undefined : [eventTypes].flat();
      const handlerName = handlerOptions.name ?? (types === undefined ? 'all' : types.join(', '));
      if (names.has(handlerName)) throw nameTaken(name, handlerName);
      names.add(handlerName);
      ready = Promise.all([ready, bind(handlerName, types, handler as Handler, handlerOptions)]);
      ready.catch(() => {});
      return source;
    },
    ready: async () => void (await ready),
    ...createReceivers(receiver, clock, async () => {
      await ready;
      return name;
    }),
  };
  return source;
}

function nameTaken(source: string, handler: string): PosthornError {
  return new PosthornError(
    'conflict',
    `The source ${source} has two handlers called "${handler}": give each a name of its own, as in .on(type, handler, { name: 'mail' }).`,
  );
}
