/** Misspelt names of parameters and fields, which must not pass for none: `?status=dead` would list everything. */
import type { FastifyRequest } from 'fastify';
import { invalid } from '../errors.ts';
import { closest } from '../policy/index.ts';
import { EndpointIn, EndpointOut } from './contract.ts';
import { SourceIn, SourceOut } from './contract-ingest.ts';

/** For routes of our own alone: SDKs made for Svix send it parameters that we do not know. */
export async function refuseUnknownParameters(request: FastifyRequest): Promise<void> {
  const { querystring } = (request.routeOptions.schema ?? {}) as { querystring?: { properties?: object } };
  const known = Object.keys(querystring?.properties ?? {});
  for (const name of Object.keys(request.query as object)) {
    if (known.includes(name)) continue;
    const near = closest(name, known);
    const allowed = known.length === 0 ? 'there are none here' : `use ${known.join(', ')}`;
    const hint = near === undefined ? allowed : `did you mean "${near}"?`;
    throw invalid(['query', name], `is not a parameter of this path; ${hint}`, 'value_error.extra');
  }
}

/** Unknown fields are ignored, as Svix does; those that nearly are one of ours were meant to be it. */
function misspeltFields(what: string, taken: { properties: object }, shown: { properties: object }) {
  const fields = Object.keys(taken.properties);
  // What a client that sends back what it read has in its body: `id` is then no misspelt `uid`.
  const known = new Set([...fields, ...Object.keys(shown.properties)]);
  return async ({ body }: FastifyRequest): Promise<void> => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return;
    for (const name of Object.keys(body)) {
      if (known.has(name)) continue;
      const near = closest(name, fields);
      if (near === undefined) continue;
      throw invalid(['body', name], `is not a field of ${what}; did you mean "${near}"?`, 'value_error.extra');
    }
  };
}

export const refuseMisspeltEndpointFields = misspeltFields('an endpoint', EndpointIn, EndpointOut);
export const refuseMisspeltSourceFields = misspeltFields('a source', SourceIn, SourceOut);
