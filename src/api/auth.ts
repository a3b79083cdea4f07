/** Who asks, and whether they may. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isPosthornError, PosthornError } from '../errors.ts';
import type { Token } from '../model/index.ts';
import type { Resources } from '../resources/index.ts';

const BEARER = /^Bearer +(\S+) *$/i;

export function requireToken(server: FastifyInstance, resources: Resources): void {
  server.addHook('onRequest', async (request) => {
    const plain = BEARER.exec(request.headers.authorization ?? '')?.[1];
    if (plain === undefined) {
      throw new PosthornError(
        'authentication_failed',
        'There is no token: send the header "Authorization: Bearer <token>"',
      );
    }
    const token = await resources.tokens.authenticate(plain);
    if (token === undefined) {
      throw new PosthornError('authentication_failed', 'Invalid token: it is unknown, deleted or expired');
    }
    request.token = token;
    checkMethod(request, token);
    await checkReach(request, token, resources);
  });
}

function checkMethod(request: FastifyRequest, token: Token): void {
  const { readsOnly, tellsSecret } = request.routeOptions.config;
  if (token.scope !== 'read-only') return;
  if (tellsSecret) {
    throw new PosthornError(
      'insufficient_access',
      'This token is read-only and secrets are not for it: use one of scope admin or application',
    );
  }
  if (request.method === 'GET' || request.method === 'HEAD' || readsOnly) return;
  throw new PosthornError('insufficient_access', 'This token is read-only: use one of scope admin or application');
}

/** A token of one application reaches what is under that application's path, and what the route opens to all. */
async function checkReach(request: FastifyRequest, token: Token, resources: Resources): Promise<void> {
  if (token.applicationId === undefined) return;
  if (request.routeOptions.config.access !== 'application') {
    throw new PosthornError('insufficient_access', 'This token is of one application: use one of scope admin');
  }
  const { app } = request.params as { app?: string };
  if (app === undefined || app === token.applicationId) return;
  const { id } = await resources.applications.get(app).catch((error: unknown) => {
    if (isPosthornError(error, 'not_found')) return { id: undefined };
    throw error;
  });
  // The same answer for another's application as for none: a token must not find out which exist.
  if (id !== token.applicationId) {
    throw new PosthornError('not_found', `There is no application ${JSON.stringify(app.slice(0, 80))}`);
  }
}
