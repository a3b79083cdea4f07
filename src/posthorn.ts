/**
 * The composition root: configuration → store + sender + engine + resources. The only file in the library that names an
 * adapter. The server and the CLI are thin layers over the object that comes out.
 */
import { hostname } from 'node:os';
import { pino } from 'pino';
import { type Clock, systemClock } from './clock.ts';
import {
  type Config,
  configuredPreset,
  loadConfig,
  type Overrides,
  parseAge,
  parseRedisUrl,
  parseStoreUrl,
  withoutPassword,
} from './config/index.ts';
import { byStore, type Dispatch } from './dispatch/index.ts';
import {
  createEngine,
  type DeadLetterNotice,
  type Engine,
  type Logger,
  logEvent,
  onDeadLetter,
  type WorkedOff,
} from './engine/index.ts';
import { closed, describeError, invalid, PosthornError } from './errors.ts';
import { createIds, type Ids } from './ids.ts';
import {
  type CertificateOptions,
  createHandlerRegistry,
  createReceiver,
  createVerifyPorts,
  type DeclaredSource,
  DeclaredSources,
  declareSource,
  type EventMap,
  LONGEST_DEDUPE_MS,
  type ReceivedNotice,
  type Receiver,
  SILENT,
  type SourceArguments,
  type SourceOptions,
} from './inbound/index.ts';
import { createAddressGuard, createSender } from './outbound/index.ts';
import {
  createDeadLetterCleaner,
  createResources,
  kindOf,
  type Messages,
  type Resources,
  strictResources,
  type WebhookHealth,
  webhookHealth,
} from './resources/index.ts';
import { createSecretBox, type SecretBox } from './signing/index.ts';
import type { Enqueue, Store } from './store/index.ts';
import { openSqliteStore } from './store/sqlite/index.ts';

/** The settings of the configuration (see `posthorn config`), and what only code can give. */
export interface PosthornOptions extends Overrides {
  /**
   * Gets the log lines; a pino logger fits. Without it warnings and errors (from `logLevel` on, if that is given) go to
   * stderr, one line of JSON each. False: nothing is logged.
   */
  readonly logger?: Logger | false;
  /** Called for every request to a source, once its answer is known, refused ones too. */
  readonly onReceived?: (notice: ReceivedNotice) => unknown;
  /** Called for every event that becomes a dead letter, once it is recorded: the place to wake somebody. */
  readonly onDeadLetter?: (notice: DeadLetterNotice) => unknown;
  readonly certificates?: CertificateOptions;
  /** False: nothing is delivered or handled but by `processPendingRetries`, from a cron. On SQLite and PostgreSQL alike. */
  readonly worker?: boolean;
  readonly clock?: Clock;
  readonly ids?: Ids;
}

export interface Posthorn extends Resources {
  /**
   * Stores a message and delivers it to every endpoint it is for. Resolves when it is durable; with a `client`, when it is
   * part of that client's transaction.
   */
  readonly publish: Messages['publish'];
  /**
   * Declares a source: its webhooks are verified, stored and handled by the functions that are added with `on`. The type
   * parameter names its events: `source<EventsByType<Stripe.Event>>('stripe', { secret })`.
   */
  source<Events extends object = EventMap>(...source: SourceArguments): DeclaredSource<Events>;
  /**
   * Tries at most `limit` due deliveries (100 without it), the longest due first, and resolves when they are recorded: for
   * those who run no worker (`worker: false`, or the role `api`) and call this from a cron.
   */
  processPendingRetries(limit?: number): Promise<WorkedOff>;
  /** What GET /health/webhooks answers, for a program with a server of its own. Never rejects. */
  webhookHealth(): Promise<WebhookHealth>;
  /** Calls back for every recorded attempt and every change of an endpoint's health. */
  readonly on: Engine['on'];
  /** Stops claiming, lets attempts in flight finish for at most `graceMs`, gives the rest back, closes the store. */
  close(graceMs?: number): Promise<void>;
  /** As it was loaded, but for its secrets: no key for secrets, and an admin token that no printing or copying shows. */
  readonly config: Config;
  /** What the HTTP server is made of. */
  readonly served: {
    readonly resources: Resources;
    readonly store: Store;
    readonly clock: Clock;
    readonly receiver: Receiver;
    readonly publicUrl?: string;
  };
}

export async function createPosthorn(options: PosthornOptions = {}): Promise<Posthorn> {
  if (typeof options !== 'object' || options === null) throw notSettings(options);
  const { logger: given, clock = systemClock, ids = createIds(() => clock.now()), ...rest } = options;
  const { onDeadLetter: tellDeadLetter, onReceived, certificates, worker = true, ...overrides } = rest;
  if (typeof worker !== 'boolean') throw new PosthornError('config_invalid', 'worker must be true or false');
  checkHooks({ onDeadLetter: tellDeadLetter, onReceived });
  const config = loadConfig({ overrides });
  const logger = loggerOf(given, overrides.logLevel === undefined ? 'warn' : config.logLevel);
  const secretBox = createSecretBox(config.secretKey);
  const guard = createAddressGuard({ allow: config.allowNetworks });
  const dispatch = await openDispatch(config, clock);
  const store = await openStore(config, clock);
  const sender = createSender({
    clock,
    guard,
    userAgent: 'Posthorn',
    maxConnectionsPerOrigin: Math.max(config.endpointMaxInFlight, 128),
  });
  const handlers = createHandlerRegistry({ clock, logger });
  const preset = (name: string) => configuredPreset(config, name);
  const cleaner = openCleaner(config, store, clock, logger);
  const engine = createEngine({
    store,
    clock,
    ids,
    sender,
    secretBox,
    svixNames: config.svixNames,
    handlers,
    defaultPolicy: config.defaultPolicy,
    preset,
    dispatch,
    takesWork: worker && config.role !== 'api',
    nodeName: `${hostname()}, process ${process.pid}`,
    maxInFlight: config.maxInFlight,
    maxInFlightPerEndpoint: config.endpointMaxInFlight,
    leaseMs: config.leaseMs,
    ...retentionOf(config),
    eventIdsForMs: LONGEST_DEDUPE_MS,
    duties: cleaner === undefined ? [] : [cleaner],
  });
  if (logger !== SILENT) engine.on((event) => logEvent(logger, event));
  if (tellDeadLetter !== undefined) {
    onDeadLetter(engine, store, tellDeadLetter, (error, { eventId, eventType, deliveryId, reason }) => {
      const about = { eventId, eventType, deliveryId, reason, error: describeError(error) };
      logger.error(about, 'the onDeadLetter hook failed');
    });
  }
  const receiver = createReceiver({
    store,
    engine,
    clock,
    secretBox,
    logger,
    ports: createVerifyPorts(sender, clock, certificates),
    maxBodyBytes: config.bodyLimitBytes,
    ...(onReceived !== undefined && { onReceived }),
  });
  const resources = createResources({
    store,
    engine: {
      ...engine,
      changed(applicationId) {
        engine.changed(applicationId);
        receiver.changed(applicationId);
      },
    },
    clock,
    ids,
    guard,
    secretBox,
    preset,
    defaultPolicy: config.defaultPolicy,
    maxPayloadBytes: config.bodyLimitBytes,
    ...(config.adminToken !== undefined && { adminToken: config.adminToken }),
    ...(store.enqueue !== undefined && { enqueue: store.enqueue }),
  });
  let isClosed = false;
  const close = async (graceMs?: number): Promise<void> => {
    isClosed = true;
    try {
      await engine.stop(graceMs);
      await sender.close();
    } finally {
      await store.close();
    }
  };
  try {
    await checkSecretKey(store, secretBox);
    await engine.start();
  } catch (error) {
    await close(0);
    throw error;
  }
  const strict = strictResources(resources);
  const declared = new DeclaredSources();
  return {
    ...strict,
    config: withoutSecrets(config),
    publish: strict.messages.publish,
    async processPendingRetries(limit = 100) {
      if (!Number.isSafeInteger(limit) || limit < 1) throw invalid(['limit'], 'must be a whole number from 1 on');
      if (isClosed) throw closed();
      // A program that a cron starts declares its sources and asks at once.
      await declared.settled();
      return engine.workDue(limit);
    },
    webhookHealth: () =>
      webhookHealth(store, clock, (error) =>
        logger.error({ error: describeError(error) }, 'the store does not answer'),
      ),
    on(listener) {
      if (isClosed) throw closed();
      return engine.on(listener);
    },
    source: (name, sourceOptions: SourceOptions) =>
      declareSource(name, sourceOptions, {
        sources: resources.sources,
        deadLetters: resources.deadLetters,
        handlers,
        receiver,
        clock,
        logger,
        transactional: store.transact !== undefined,
        isClosed: () => isClosed,
        declared,
        onHandler: () => engine.wake(),
      }),
    close,
    served: {
      resources,
      store,
      clock,
      receiver,
      ...(config.publicUrl !== undefined && { publicUrl: config.publicUrl }),
    },
  };
}

function notSettings(given: unknown): PosthornError {
  return new PosthornError(
    'config_invalid',
    `createPosthorn takes an object of settings, for example createPosthorn({ store: 'sqlite:./posthorn.db' }), not ${kindOf(given)}`,
  );
}

function checkHooks(hooks: Readonly<Record<string, unknown>>): void {
  for (const [name, hook] of Object.entries(hooks)) {
    if (hook === undefined || typeof hook === 'function') continue;
    throw new PosthornError('config_invalid', `${name} must be a function, not ${kindOf(hook)}`);
  }
}

const LOGGER_METHODS = ['debug', 'info', 'warn', 'error'] as const satisfies readonly (keyof Logger)[];

/** A failure is never silent unless silence was asked for. */
function loggerOf(given: Logger | false | undefined, level: Config['logLevel']): Logger {
  if (given === false) return SILENT;
  const lacks = LOGGER_METHODS.filter((method) => given !== undefined && typeof given?.[method] !== 'function');
  if (lacks.length > 0) {
    // Found out at the first line that it should write, it would be an error of whatever was being done.
    throw new PosthornError(
      'config_invalid',
      `logger must have the methods ${LOGGER_METHODS.join(', ')}, as a pino logger does, or be false for silence; it lacks ${lacks.join(', ')}`,
    );
  }
  return given ?? pino({ level }, pino.destination({ dest: 2, sync: true }));
}

/** The command line shows the admin token at its start and asks for it by name; logs and JSON never come upon it. */
export function withoutSecrets({ adminToken, secretKey: _, redisUrl: __, ...shown }: Config): Config {
  const hidden = { adminToken: { value: adminToken }, secretKey: { value: undefined }, redisUrl: { value: undefined } };
  const store = withoutPassword(shown.store);
  return Object.freeze(Object.defineProperties({ ...shown, store }, hidden) as Config);
}

/** A wrong POSTHORN_SECRET_KEY stops the start, instead of every delivery after it. */
async function checkSecretKey(store: Store, secretBox: SecretBox): Promise<void> {
  const { items } = await store.list({ kind: 'endpoint', limit: 1, order: 'descending' });
  const [newest] = items[0]?.record.secrets ?? [];
  if (newest !== undefined) secretBox.open(newest.key);
  const sources = await store.list({ kind: 'source', limit: 1, order: 'descending' });
  const [source] = sources.items;
  if (source !== undefined) secretBox.open(source.record.settings);
}

/** Undefined where dead letters are kept for ever. */
function openCleaner(config: Config, store: Store, clock: Clock, logger: Logger) {
  const { deadLetterKeep, deadLetterArchive: folder } = config;
  if (deadLetterKeep === undefined) return undefined;
  return createDeadLetterCleaner({
    store,
    clock,
    keepMs: ageOf('deadLetterKeep', deadLetterKeep),
    fileSuffix: `-${process.pid}`,
    ...(folder !== undefined && { folder }),
    onCleaned: (count) => logger.info({ count, keep: deadLetterKeep }, 'old dead letters deleted'),
    onKept: (kept, file) =>
      logger.warn(
        { kept, file },
        'dead letters changed while they were archived: they stay, and their lines in the file are out of date',
      ),
  });
}

function retentionOf({ retention }: Config): { retentionMs?: number } {
  return retention === undefined ? {} : { retentionMs: ageOf('retention', retention) };
}

function ageOf(name: string, text: string): number {
  const age = parseAge(text);
  if ('refused' in age) throw new PosthornError('config_invalid', `${name} ${age.refused}`);
  return age.value;
}

async function openDispatch(config: Config, clock: Clock): Promise<Dispatch> {
  if (config.dispatch === 'store') return byStore;
  const location = parseRedisUrl(config.redisUrl);
  if ('refused' in location) throw new PosthornError('config_invalid', `redisUrl ${location.refused}`);
  // Who does not choose it does not load it.
  const { createBullmqDispatch } = await import('./dispatch/bullmq/index.ts');
  return createBullmqDispatch({
    location: location.value,
    prefix: config.redisPrefix,
    clock,
    maxInFlight: config.maxInFlight,
  });
}

/** With `enqueue` where callers can publish inside their own transactions. */
async function openStore(
  { store, role, postgresPool, leaseMs }: Config,
  clock: Clock,
): Promise<Store & { readonly enqueue?: Enqueue }> {
  const location = parseStoreUrl(store);
  if ('refused' in location) throw new PosthornError('config_invalid', `store ${location.refused}`);
  if (location.value.kind === 'postgres') {
    // Who does not choose it does not load it.
    const { openPostgresStore } = await import('./store/postgres/index.ts');
    return openPostgresStore({ url: location.value.url, poolSize: postgresPool, leaseMs, clock });
  }
  if (role !== 'all') {
    throw new PosthornError(
      'config_invalid',
      `The role ${role} is for many nodes on PostgreSQL. A SQLite file has one process, which does everything: leave the role out.`,
    );
  }
  return openSqliteStore({ path: location.value.path });
}
