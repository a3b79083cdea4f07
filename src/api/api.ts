/** The shapes that the server and its routes share. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { Clock } from '../clock.ts';
import type { Receiver } from '../inbound/index.ts';
import type { Token } from '../model/index.ts';
import type { Resources } from '../resources/index.ts';
import type { Store } from '../store/index.ts';
import type { IdempotentRequest } from './idempotency.ts';

/** What the server serves. */
export interface Served {
  readonly resources: Resources;
  readonly store: Pick<Store, 'recall' | 'keepAnswer' | 'counts'>;
  readonly clock: Clock;
  /** What takes webhooks in at /in/{source} and /in/{source}/{token}; without it there is no such path. */
  readonly receiver?: Receiver;
  /** Where the server is reached from outside, without a slash at the end. */
  readonly publicUrl?: string;
}

export type Api = FastifyInstance<
  RawServerDefault,
  import('node:http').IncomingMessage,
  import('node:http').ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** A resource's routes, registered under /api/v1. */
export type RouteGroup = (api: Api, served: Served) => void;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whose tokens may call: an admin's (the default), or also those of the application in the path. */
    access?: 'admin' | 'application';
    /** A POST that only reads, and so is open to read-only tokens. */
    readsOnly?: boolean;
    /** The answer has a secret: it is not for read-only tokens, and not kept under an idempotency key. */
    tellsSecret?: boolean;
    /** No body is not the same as an empty one: where `{}` means everything, it has to be said. */
    needsBody?: boolean;
    /** The route's own commit keeps the answer under the idempotency key, and is refused when it has one already. */
    remembersInCommit?: boolean;
    /** The route's own commit looks the idempotency key up, so that the server need not. */
    recallsInCommit?: boolean;
  }
  interface FastifyRequest {
    /** Who asks; set on every route under /api/v1 that needs a token. */
    token: Token;
    /** The body as it arrived. */
    rawBody: Buffer | undefined;
    idempotent: IdempotentRequest | undefined;
  }
}
