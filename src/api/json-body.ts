import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { invalid } from '../errors.ts';

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i;

/** Reads JSON bodies and keeps their bytes: for the fingerprint of an idempotency key, and to store payloads as sent. */
export function readJsonBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser<Buffer>(JSON_TYPE, { parseAs: 'buffer' }, (request, body, done) => {
    request.rawBody = body;
    // SDKs in some languages send a content type with an empty body; that is no body, not bad JSON.
    if (body.length === 0) return done(null, undefined);
    if (!isUtf8(body)) return done(invalid(['body'], 'must be UTF-8', 'value_error.jsondecode'));
    try {
      done(null, JSON.parse(body.toString('utf8')));
    } catch (error) {
      done(invalid(['body'], `is not valid JSON: ${(error as Error).message}`, 'value_error.jsondecode'));
    }
  });
}
