/** The settings. This table is the only place that knows a variable's name, its default and what it may be. */
import { PRESET_NAMES, type PresetName } from '../policy/index.ts';
import { parseAge } from './age.ts';
import {
  baseUrl,
  bearerToken,
  hostName,
  networks,
  oneOf,
  type Parser,
  redisPrefix,
  secretText,
  trueOrFalse,
  wholeNumber,
} from './parsers.ts';
import { parseRedisUrl } from './redis-url.ts';
import { parseStoreUrl, withoutPassword } from './store-url.ts';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const DISPATCHES = ['store', 'bullmq'] as const;
export const ROLES = ['all', 'api', 'worker'] as const;

/** Frozen, with every value checked. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Without a slash at the end. */
  readonly publicUrl: string | undefined;
  /** A store URL; `parseStoreUrl` takes it apart. */
  readonly store: string;
  /** What this node does of it all. */
  readonly role: (typeof ROLES)[number];
  /** How due work reaches a worker. */
  readonly dispatch: (typeof DISPATCHES)[number];
  /** `parseRedisUrl` takes it apart. May hold a password. */
  readonly redisUrl: string;
  readonly redisPrefix: string;
  readonly adminToken: string | undefined;
  readonly secretKey: string | undefined;
  readonly allowNetworks: readonly string[];
  readonly defaultPolicy: PresetName;
  /** `svix-*` header names beside the standard ones. */
  readonly svixNames: boolean;
  readonly logLevel: LogLevel;
  /** The `outbox` preset's jitter, in basis points. */
  readonly retryJitterBps: number;
  /** The `outbox` preset's retry budget; 0 disables it. */
  readonly retryBudget: number;
  readonly maxInFlight: number;
  readonly endpointMaxInFlight: number;
  readonly leaseMs: number;
  /** Connections to PostgreSQL. */
  readonly postgresPool: number;
  readonly bodyLimitBytes: number;
  /** `parseAge` reads it; for ever without it. */
  readonly retention: string | undefined;
  /** `parseAge` reads it; for ever without it. */
  readonly deadLetterKeep: string | undefined;
  /** A folder. */
  readonly deadLetterArchive: string | undefined;
}

export interface Setting<T> {
  readonly env: string;
  /** A second variable that means the same; both with different values is an error. */
  readonly alias?: string;
  readonly fallback: T;
  readonly doc: string;
  /** Its value is never shown, not even when it is wrong. */
  readonly secret?: true;
  /** How its value is shown, where not as it is. */
  readonly show?: (text: string) => string;
  readonly parse: Parser<T>;
}

const age: Parser<string> = (text) => {
  const parsed = parseAge(text);
  return 'refused' in parsed ? parsed : { value: text };
};

export const SETTINGS: { readonly [K in keyof Config]: Setting<Config[K]> } = {
  host: {
    env: 'POSTHORN_HOST',
    fallback: '127.0.0.1',
    doc: 'Address to listen on; 0.0.0.0 for every IPv4 interface.',
    parse: hostName,
  },
  port: {
    env: 'POSTHORN_PORT',
    fallback: 8420,
    doc: 'Port to listen on, 0 to 65535; 0 picks a free one.',
    parse: wholeNumber(0, 65_535),
  },
  publicUrl: {
    env: 'POSTHORN_PUBLIC_URL',
    fallback: undefined,
    doc: 'Where this server is reached from outside, such as https://hooks.example.com: the receiving URLs of sources are shown with it.',
    parse: baseUrl,
  },
  store: {
    env: 'POSTHORN_STORE',
    fallback: 'sqlite:./posthorn.db',
    doc: 'Where everything is kept: sqlite:<file>, sqlite::memory: to keep nothing, or postgres://user:password@host:5432/database.',
    show: withoutPassword,
    parse(text) {
      const parsed = parseStoreUrl(text);
      return 'refused' in parsed ? parsed : { value: text };
    },
  },
  role: {
    env: 'POSTHORN_ROLE',
    fallback: 'all',
    doc: 'What this node does, of many on PostgreSQL: all, api (accepts and answers), or worker (delivers; answers /health only).',
    parse: oneOf(ROLES),
  },
  dispatch: {
    env: 'POSTHORN_DISPATCH',
    fallback: 'store',
    doc: 'How due work reaches a worker: store (nothing else is needed), or bullmq (jobs in Redis, for many machines).',
    parse: oneOf(DISPATCHES),
  },
  redisUrl: {
    env: 'POSTHORN_REDIS_URL',
    fallback: 'redis://127.0.0.1:6379',
    doc: 'Redis for bullmq: redis://user:password@host:port/database, rediss:// with TLS; host:port,host:port or ?cluster for a cluster.',
    secret: true,
    parse(text) {
      const parsed = parseRedisUrl(text);
      return 'refused' in parsed ? parsed : { value: text };
    },
  },
  redisPrefix: {
    env: 'POSTHORN_REDIS_PREFIX',
    fallback: '{posthorn}',
    doc: 'What the keys in Redis begin with, with a {tag} that keeps them on one node of a cluster.',
    parse: redisPrefix,
  },
  adminToken: {
    env: 'POSTHORN_ADMIN_TOKEN',
    fallback: undefined,
    doc: 'Bearer token with all rights on this node, 16 characters or more. Without it the first start makes one for all nodes and prints it once.',
    secret: true,
    parse: bearerToken,
  },
  secretKey: {
    env: 'POSTHORN_SECRET_KEY',
    fallback: undefined,
    doc: 'Encrypts the signing secrets in the store, 16 characters or more. Without it they are stored as they are.',
    secret: true,
    parse: secretText,
  },
  allowNetworks: {
    env: 'POSTHORN_ALLOW_NETWORKS',
    fallback: [],
    doc: 'Networks that endpoints may be in although they are not public: CIDRs separated by commas.',
    parse: networks,
  },
  // Presets only: they cannot be deleted, so the policy that everything falls back on is there from the first start.
  // A stored policy is given to an application or an endpoint instead.
  defaultPolicy: {
    env: 'POSTHORN_DEFAULT_POLICY',
    fallback: 'multi-day',
    doc: `Preset for endpoints that name no policy: ${PRESET_NAMES.join(', ')}.`,
    parse: oneOf(PRESET_NAMES),
  },
  svixNames: {
    env: 'POSTHORN_SVIX_NAMES',
    fallback: false,
    doc: "true sends svix-id, svix-timestamp and svix-signature beside the webhook-* headers, for receivers that verify with Svix's library.",
    parse: trueOrFalse,
  },
  logLevel: {
    env: 'POSTHORN_LOG_LEVEL',
    fallback: 'info',
    doc: `What is logged: ${LOG_LEVELS.join(', ')}.`,
    parse: oneOf(LOG_LEVELS),
  },
  retryJitterBps: {
    env: 'POSTHORN_RETRY_JITTER_BPS',
    alias: 'PAYMENT_REQUEST_WEBHOOK_RETRY_JITTER_BPS',
    fallback: 0,
    doc: 'Jitter of the outbox preset in basis points, 0 to 10000; 0 leaves its schedule untouched.',
    parse: wholeNumber(0, 10_000),
  },
  retryBudget: {
    env: 'POSTHORN_RETRY_BUDGET',
    alias: 'PAYMENT_REQUEST_WEBHOOK_RETRY_BUDGET',
    fallback: 0,
    doc: 'Retries that the outbox preset may make at most; 0 sets no limit beside its schedule.',
    parse: wholeNumber(0),
  },
  maxInFlight: {
    env: 'POSTHORN_MAX_IN_FLIGHT',
    fallback: 1024,
    doc: 'Requests to endpoints under way at the same time, in all; 1 to 65535.',
    parse: wholeNumber(1, 65_535),
  },
  endpointMaxInFlight: {
    env: 'POSTHORN_ENDPOINT_MAX_IN_FLIGHT',
    fallback: 64,
    doc: 'Requests under way to one endpoint that has no limit of its own; 1 to 65535.',
    parse: wholeNumber(1, 65_535),
  },
  leaseMs: {
    env: 'POSTHORN_LEASE_MS',
    fallback: 10_000,
    doc: 'How long a node may be silent before the others take its deliveries over; 1000 to 600000 ms, the same on all. PostgreSQL ends a transaction that lies still for as long.',
    parse: wholeNumber(1000, 600_000),
  },
  postgresPool: {
    env: 'POSTHORN_POSTGRES_POOL',
    fallback: 10,
    doc: 'Connections of this node to PostgreSQL, and as many again for handlers in transactions; 1 to 1000.',
    parse: wholeNumber(1, 1000),
  },
  bodyLimitBytes: {
    env: 'POSTHORN_BODY_LIMIT_BYTES',
    fallback: 2_097_152,
    doc: 'Largest request body that the API and sources take; 1024 to 67108864.',
    parse: wholeNumber(1024, 67_108_864),
  },
  retention: {
    env: 'POSTHORN_RETENTION',
    fallback: undefined,
    doc: 'How long messages are kept once all their deliveries have ended well: 48h, 30d, 12w. Without it, for ever.',
    parse: age,
  },
  deadLetterKeep: {
    env: 'POSTHORN_DEAD_LETTER_KEEP',
    fallback: undefined,
    doc: 'How long dead letters are kept after they died or were restored: 48h, 90d, 12w. Without it, for ever.',
    parse: age,
  },
  deadLetterArchive: {
    env: 'POSTHORN_DEAD_LETTER_ARCHIVE',
    fallback: undefined,
    doc: 'Folder for files of JSON lines that dead letters are written to before they are deleted. Without it, none.',
    parse: (text) => ({ value: text }),
  },
};
