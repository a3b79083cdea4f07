import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { invalid } from '../errors.ts';

type Schemas = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 64;

/**
 * Checks that an event type's schemas are JSON Schemas (draft-07, or 2020-12 where `$schema` says so). They are compared
 * with the meta-schema and never compiled: a stranger's schema does not become code here.
 */
export function createSchemaCheck(): (schemas: Schemas, loc: readonly string[]) => Schemas {
  // Made when first needed: loading the meta-schemas takes tens of milliseconds.
  let draft7: Ajv | undefined;
  let draft2020: Ajv2020 | undefined;

  return (schemas, loc) => {
    for (const [version, schema] of Object.entries(schemas)) {
      const at = [...loc, version];
      if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
        throw invalid(at, 'must be a JSON Schema, as an object', 'type_error');
      }
      if (depthOf(schema, MAX_DEPTH) > MAX_DEPTH) throw invalid(at, `is nested more than ${MAX_DEPTH} levels deep`);
      const dialect = '$schema' in schema ? String(schema.$schema) : 'draft-07';
      const known = /draft-07|2020-12/.exec(dialect)?.[0];
      if (known === undefined) throw invalid([...at, '$schema'], 'must be draft-07 or 2020-12');
      if (known === 'draft-07') draft7 ??= new Ajv({ strict: false, logger: false });
      else draft2020 ??= new Ajv2020({ strict: false, logger: false });
      const ajv = known === 'draft-07' ? draft7 : draft2020;
      const { $schema: _, ...rest } = schema as { $schema?: unknown };
      if (ajv?.validateSchema(rest) === true) continue;
      const [first] = ajv?.errors ?? [];
      const path = first?.instancePath.split('/').slice(1) ?? [];
      throw invalid(
        [...at, ...path],
        `is not a valid JSON Schema (${known}): ${first?.message ?? 'it does not match'}`,
      );
    }
    return schemas;
  };
}

/** No deeper than it needs to look: a schema nested a million levels deep must not exhaust the stack. */
function depthOf(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (limit < 0) return 1;
  let deepest = 0;
  for (const each of Object.values(value)) deepest = Math.max(deepest, depthOf(each, limit - 1));
  return deepest + 1;
}
