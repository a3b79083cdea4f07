import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import { invalid } from '../errors.ts';
import { receiveDirectly, receivingRoute, WholeRequest } from '../inbound/index.ts';
import type { Served } from './api.ts';
import { requireToken } from './auth.ts';
import { answerClientError, answerFrameworkError, refuseEarly } from './early-refusals.ts';
import { endConnectionsOnClose } from './end-connections-on-close.ts';
import { answerError } from './errors.ts';
import { keepIdempotency } from './idempotency.ts';
import { readJsonBodies } from './json-body.ts';
import { answerUnknownRoutes } from './not-found.ts';
import { describeApi } from './openapi.ts';
import { openRoutes } from './routes/health.ts';
import { ingestRoutes, ownRoutes, svixRoutes } from './routes/index.ts';
import { refuseUnknownParameters } from './unknown-names.ts';
import { createValidatorCompiler } from './validation.ts';

export interface ServerOptions extends Served {
  readonly logger: FastifyBaseLogger | false;
  /** The version that the OpenAPI document names. */
  readonly version?: string;
  readonly bodyLimitBytes?: number;
  /** Only /health is answered: a worker's server, for whoever watches over it. */
  readonly healthOnly?: boolean;
}

/** For the whole request to arrive: whoever sends a byte now and then does not hold a connection for ever. */
const REQUEST_TIMEOUT_MS = 60_000;
const BODY_LIMIT_BYTES = 2 * 1024 * 1024;
/** A uid has up to 256 characters; percent-encoded it may be three times as long. */
const MAX_PARAM_LENGTH = 1024;

/** The HTTP server, ready to `listen` or `inject`. */
export function createServer(options: ServerOptions): FastifyInstance {
  const server = fastify({
    ...(options.logger === false ? { logger: false } : { loggerInstance: options.logger }),
    // Two lines for every request would cost more than the request; failures are logged where they are answered.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.bodyLimitBytes ?? BODY_LIMIT_BYTES,
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: MAX_PARAM_LENGTH },
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { IncomingMessage: WholeRequest, requireHostHeader: false },
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: answerClientError,
  });
  server.decorateRequest('token');
  server.decorateRequest('rawBody');
  server.decorateRequest('idempotent');
  server.setValidatorCompiler(createValidatorCompiler());
  // One way to write an answer: what is sent and what is remembered under an idempotency key are the same text.
  server.setSerializerCompiler(() => JSON.stringify);
  server.setErrorHandler(answerError);
  refuseEarly(server);
  endConnectionsOnClose(server);
  answerUnknownRoutes(server);
  readJsonBodies(server);
  describeApi(server, options.version ?? '0.0.0');

  server.register(async (open) => {
    openRoutes(open.withTypeProvider<TypeBoxTypeProvider>(), options);
  });
  if (options.healthOnly) return server;
  const { receiver } = options;
  if (receiver !== undefined) {
    server.register(async (open) => {
      receivingRoute(open, receiver, '/in/:source/:token?', ({ source = '', token: urlToken = '' }) => ({
        source,
        urlToken,
      }));
    });
    receiveDirectly(server, receiver, { clock: options.clock, prefix: '/in/' });
  }
  server.register(
    async (api) => {
      beginApi(api, options);
      for (const register of svixRoutes) register(api.withTypeProvider<TypeBoxTypeProvider>(), options);
      api.register(async (own) => {
        own.addHook('preValidation', refuseUnknownParameters);
        for (const register of ownRoutes) register(own.withTypeProvider<TypeBoxTypeProvider>(), options);
      });
    },
    { prefix: '/api/v1' },
  );
  server.register(
    async (api) => {
      beginApi(api, options);
      for (const register of ingestRoutes) register(api.withTypeProvider<TypeBoxTypeProvider>(), options);
    },
    { prefix: '/ingest/api/v1' },
  );
  return server;
}

/** What every route has that needs a token. */
function beginApi(api: FastifyInstance, options: ServerOptions): void {
  requireToken(api, options.resources);
  keepIdempotency(api, options);
  api.addHook('preValidation', (request, _, done) => {
    if (request.body === undefined && request.routeOptions.config.needsBody) {
      return done(invalid(['body'], 'is required, as a JSON object', 'value_error.missing'));
    }
    // Without a body, "name is required" says more than "the body must be an object".
    if (request.body === undefined && request.method !== 'GET') request.body = {};
    done();
  });
}
