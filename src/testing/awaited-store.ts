/** A store on whose answers a manual clock waits: time stands still while an operation is under way. */
import type { Store } from '../store/index.ts';
import type { ManualClock } from './manual-clock.ts';

export function awaitedStore(store: Store, clock: ManualClock): Store {
  return new Proxy(store, {
    get(target, name: keyof Store) {
      const method = target[name];
      if (typeof method !== 'function' || name === 'watch') return method;
      const call = method.bind(target) as (...args: unknown[]) => Promise<unknown>;
      return (...args: unknown[]) => clock.during(call(...args));
    },
  });
}
