import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { ErrorOut, ValidationErrorOut } from './contract.ts';

/** What any route may answer; told once here instead of in every route. */
const FAILURES = { 400: ErrorOut, 401: ErrorOut, 403: ErrorOut, 404: ErrorOut, 409: ErrorOut, 422: ValidationErrorOut };

/** Collects the routes that are registered after it into an OpenAPI 3.1 document. */
export function describeApi(server: FastifyInstance, version: string): void {
  server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Posthorn',
        version,
        description: 'Webhooks that arrive. Ids in paths may be uids; lists are paged by iterator.',
      },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
      security: [{ bearer: [] }],
    },
    transform: ({ schema, url }) => ({ url, schema: withFailures(schema as FastifySchema | undefined) }),
  });
}

function withFailures(schema: FastifySchema | undefined): FastifySchema {
  return { ...schema, response: { ...FAILURES, ...(schema?.response as object | undefined) } };
}
