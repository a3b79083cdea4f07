import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify';
import { ErrorOut, ValidationErrorOut } from './contract.ts';
import { POLICY_SCHEMA } from './policy-schema.ts';

/** What any route may answer; told once here instead of in every route. */
const FAILURES = { 400: ErrorOut, 401: ErrorOut, 403: ErrorOut, 404: ErrorOut, 409: ErrorOut, 422: ValidationErrorOut };

interface Operation {
  readonly operationId?: string;
  readonly requestBody?: { required?: boolean };
}

/** Collects the routes that are registered after it into an OpenAPI 3.1 document. */
export function describeApi(server: FastifyInstance, version: string): void {
  /** Operation ids; the plugin itself calls every body required. */
  const bodyOptional = new Set<string>();
  server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Posthorn',
        version,
        description: 'Webhooks that arrive. Ids in paths may be uids; lists are paged by iterator.',
      },
      components: {
        securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
        schemas: { Policy: POLICY_SCHEMA },
      },
      security: [{ bearer: [] }],
    },
    transform: ({ schema, url, route }) => {
      const { operationId } = schema as { operationId?: string };
      if (operationId !== undefined && mayLackBody(route)) bodyOptional.add(operationId);
      return { url, schema: withFailures(schema as FastifySchema | undefined) };
    },
    transformObject: (documents) => {
      if (!('openapiObject' in documents)) return documents.swaggerObject;
      const { openapiObject } = documents;
      for (const path of Object.values(openapiObject.paths ?? {})) {
        for (const { operationId = '', requestBody } of Object.values((path ?? {}) as Record<string, Operation>)) {
          if (requestBody !== undefined && bodyOptional.has(operationId)) requestBody.required = false;
        }
      }
      return openapiObject;
    },
  });
}

/** As the server reads it: no body is an empty object, unless the route says otherwise. */
function mayLackBody({ schema, config }: RouteOptions): boolean {
  const { required = [] } = (schema?.body ?? {}) as { required?: readonly string[] };
  return required.length === 0 && !config?.needsBody;
}

function withFailures(schema: FastifySchema | undefined): FastifySchema {
  return { ...schema, response: { ...FAILURES, ...(schema?.response as object | undefined) } };
}
