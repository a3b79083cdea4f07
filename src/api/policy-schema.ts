/**
 * A policy as JSON Schema, for the OpenAPI document alone: requests are checked by policy/, which says better what is
 * wrong. Limits and presets are read from there, so that the document cannot promise others.
 */
import { ERROR_KINDS } from '../model/index.ts';
import { POLICY_LIMITS, PRESET_NAMES } from '../policy/index.ts';

const integer = (minimum: number, maximum: number) => ({ type: 'integer' as const, minimum, maximum });
const number = (minimum: number, maximum: number) => ({ type: 'number' as const, minimum, maximum });
const words = (...allowed: readonly string[]) => ({ type: 'string' as const, enum: [...allowed] });
const object = (properties: Record<string, object>, required: string[] = []) => ({
  type: 'object' as const,
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
});
const tagged = (kind: string, properties: Record<string, object> = {}) =>
  object({ kind: words(kind), ...properties }, ['kind', ...Object.keys(properties)]);

const delay = integer(1, POLICY_LIMITS.delayMs);
const timeout = integer(1, POLICY_LIMITS.timeoutMs);
const retries = integer(0, POLICY_LIMITS.retries);

export const POLICY_SCHEMA = {
  ...object({
    extends: words(...PRESET_NAMES),
    schedule: {
      oneOf: [
        tagged('explicit', { delaysMs: { type: 'array', items: delay, maxItems: POLICY_LIMITS.retries } }),
        tagged('exponential', { baseMs: delay, factor: number(1, POLICY_LIMITS.factor), capMs: delay, retries }),
      ],
    },
    jitter: {
      oneOf: [
        tagged('none'),
        tagged('proportional', { below: number(0, 1), above: number(0, 10) }),
        tagged('additive', { maxMs: integer(0, POLICY_LIMITS.delayMs) }),
        tagged('full'),
        tagged('hash', { basisPoints: integer(0, 10_000) }),
      ],
    },
    retryBudget: retries,
    timeouts: object({ connectMs: timeout, totalMs: timeout }),
    rules: {
      type: 'array',
      maxItems: POLICY_LIMITS.rules,
      items: object(
        {
          when: {
            type: 'array',
            minItems: 1,
            maxItems: POLICY_LIMITS.conditions,
            items: { type: ['integer', 'string'], description: `429, "5xx", "520-527", or ${ERROR_KINDS.join(', ')}.` },
          },
          // biome-ignore lint/suspicious/noThenProperty: the name of the field
          then: words('retry', 'reject'),
        },
        ['when', 'then'],
      ),
    },
    redirects: words('success', 'follow', 'failure'),
    retryAfter: object({ honour: { type: 'boolean' }, capMs: delay }),
    windowMs: integer(0, POLICY_LIMITS.windowMs),
    maxDelayMs: delay,
    onExhausted: words('keep', 'fail', 'fail-when-silent'),
  }),
  description: 'Anything may be left out: it then comes from the preset that is extended, or from the defaults.',
};
