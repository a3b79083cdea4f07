import { invalid } from '../errors.ts';
import type { PolicyRef } from '../model/index.ts';
import { closest, isPresetName, PRESET_NAMES, parsePolicy } from '../policy/index.ts';
import type { Store } from '../store/index.ts';

/** A policy as a user gives it: a name, or an object in which anything may be left to the defaults. */
export type PolicyInput = string | object;

/** A name that exists, or the inline policy checked and completed. */
export async function checkPolicyRef(store: Store, input: PolicyInput, loc: readonly string[]): Promise<PolicyRef> {
  if (typeof input !== 'string') return parsePolicy(input, loc);
  if (isPresetName(input)) return input;
  const stored = await store.get({ kind: 'policy', idOrName: input });
  // By name only: an id would be found too, and the engine looks policies up by name.
  if (stored?.record.name === input) return input;
  throw invalid(loc, await unknownPolicy(store, input));
}

/** What can be found wrong without the store: nothing of a name. */
export function checkInlinePolicy(input: PolicyInput, loc: readonly string[]): void {
  if (typeof input !== 'string') parsePolicy(input, loc);
}

export async function unknownPolicy(store: Store, name: string): Promise<string> {
  const stored = await store.list({ kind: 'policy', limit: 250, order: 'ascending' });
  const near = closest(name, [...PRESET_NAMES, ...stored.items.map(({ record }) => record.name)]);
  const shown = JSON.stringify(name.slice(0, 80));
  const hint = near === undefined ? 'GET /api/v1/policy lists those that exist' : `did you mean "${near}"?`;
  return `there is no policy ${shown}; ${hint}`;
}
