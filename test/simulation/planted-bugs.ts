/** Stores with a bug each, to show that the invariants see it. They are put between the engine and the real store. */
import type { ClaimOutput, Store } from '../../src/store/index.ts';

/** Claims the oldest due deliveries whatever their lane: one queue for all, as most engines have it. */
export function claimInOneQueue(maxLeased: number): (store: Store) => Store {
  return (store) => {
    let leased = 0;
    return {
      ...store,
      async claim(input): Promise<ClaimOutput> {
        const limit = Math.min(1000, maxLeased - leased);
        const nothing = { fenced: false, deliveries: [], lanes: [], moreLanes: false, nextDueAt: input.now + 10 };
        if (limit <= 0) return nothing;
        const oldest = await store.listDeliveries({ states: ['pending'], limit, order: 'ascending' });
        const ids = oldest.items.map(({ id }) => id);
        const { deliveries, fenced } = await store.lease({ epoch: input.epoch, now: input.now, ids });
        leased += deliveries.length;
        return { ...nothing, fenced, deliveries };
      },
      async record(input) {
        leased -= input.items.length;
        return store.record(input);
      },
    };
  };
}

/** Forgets to hand out one of the deliveries that it leased. */
export function claimLosesOne(store: Store): Store {
  let lost = false;
  return {
    ...store,
    async claim(input) {
      const output = await store.claim(input);
      if (lost || output.deliveries.length === 0) return output;
      lost = true;
      return { ...output, deliveries: output.deliveries.slice(1) };
    },
  };
}

/** Hands one delivery out twice. */
export function claimRepeatsOne(store: Store): Store {
  let repeated = false;
  return {
    ...store,
    async claim(input) {
      const output = await store.claim(input);
      const [first] = output.deliveries;
      if (repeated || first === undefined) return output;
      repeated = true;
      return { ...output, deliveries: [...output.deliveries, first] };
    },
  };
}

/** Leases, and hands nothing out. */
export function claimLosesAll(store: Store): Store {
  return { ...store, claim: async (input) => ({ ...(await store.claim(input)), deliveries: [] }) };
}
