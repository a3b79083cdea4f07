/**
 * Checks bodies, queries and paths against the routes' schemas, compiled once. A body is taken as it is: "5" is not a
 * number. A query or a path has only text, so numbers and booleans are read from it.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify';
import type { Issue } from '../errors.ts';

export function createValidatorCompiler(): FastifySchemaCompiler<object> {
  const strict = new Ajv({ allErrors: false, strict: true, strictTypes: false, allowUnionTypes: true });
  const lenient = new Ajv({ allErrors: false, coerceTypes: 'array', useDefaults: true, strictTypes: false });
  for (const ajv of [strict, lenient]) addFormats.default(ajv);
  return ({ schema, httpPart }): ValidateFunction => (httpPart === 'body' ? strict : lenient).compile(schema);
}

/** One finding as the API tells it: where, with list places as `[0]`, and in words. */
export function issueOf(error: FastifySchemaValidationError, part: string): Issue {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((segment) => (/^\d+$/.test(segment) ? `[${segment}]` : segment));
  const loc = [part === 'querystring' ? 'query' : part === 'params' ? 'path' : part, ...path];
  if (error.keyword === 'required') {
    return { loc: [...loc, String(error.params.missingProperty)], msg: 'is required', type: 'value_error.missing' };
  }
  if (error.keyword === 'additionalProperties') {
    const name = String(error.params.additionalProperty);
    return {
      loc: [...loc, name],
      msg: 'is not a field of this request; check its spelling',
      type: 'value_error.extra',
    };
  }
  if (error.keyword === 'enum') {
    const allowed = (error.params.allowedValues as unknown[]).map((value) => JSON.stringify(value)).join(', ');
    return { loc, msg: `must be one of ${allowed}`, type: 'value_error' };
  }
  if (error.keyword === 'type') return { loc, msg: `must be ${wanted(error.params.type)}`, type: 'type_error' };
  return { loc, msg: error.message ?? 'is not valid', type: 'value_error' };
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  object: 'a JSON object',
  array: 'a list',
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

function wanted(type: unknown): string {
  const types = Array.isArray(type) ? type.map(String) : String(type).split(',');
  return types.map((each) => TYPE_WORDS[each] ?? each).join(' or ');
}
