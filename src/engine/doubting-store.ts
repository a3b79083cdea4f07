/**
 * The store, watched for operations that lease and fail. Where the store does not say that nothing was written, the
 * commit may have been done and only its answer lost: then something is leased to this node that it knows nothing of.
 */
import { isPosthornError } from '../errors.ts';
import type { Store } from '../store/index.ts';

const LEASING: ReadonlySet<keyof Store> = new Set(['accept', 'relay', 'claim', 'lease', 'takeOver'] as const);

export function doubtingStore(store: Store, onDoubt: () => void): Store {
  const doubted = (answer: Promise<unknown>): Promise<unknown> =>
    answer.catch((error) => {
      if (!(isPosthornError(error) && error.nothingStored)) onDoubt();
      throw error;
    });
  return new Proxy(store, {
    get(target, name: keyof Store) {
      const method = target[name];
      if (typeof method !== 'function') return method;
      const bound = method.bind(target) as (input: unknown) => Promise<unknown>;
      return LEASING.has(name) ? (input: unknown) => doubted(bound(input)) : bound;
    },
  });
}
