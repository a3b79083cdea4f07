/**
 * The truth about leases and successes, kept between the nodes and the store: it sees every operation as the store did
 * it, whatever a node learns of it.
 */
import type { Outcome } from '../../src/model/index.ts';
import type { Store } from '../../src/store/index.ts';
import type { SimulatedLane } from './population.ts';
import type { Wire } from './virtual-network.ts';

export class Ledger implements Wire {
  readonly violations: string[] = [];
  /** Answered with success, as `message lane`. */
  readonly answered = new Set<string>();
  readonly #laneOf: ReadonlyMap<string, string>;
  readonly #owner = new Map<string, number>();
  readonly #succeeded = new Set<string>();
  readonly #interrupted = new Set<string>();
  readonly #written = new Set<string>();

  constructor(lanes: readonly SimulatedLane[]) {
    this.#laneOf = new Map(lanes.map(({ url, id }) => [url, id]));
  }

  watch(store: Store): Store {
    const lease = (epoch: number, deliveries: readonly { id: string }[]) => {
      for (const { id } of deliveries) this.#owner.set(id, epoch);
    };
    return {
      ...store,
      accept: async (input) => {
        const output = await store.accept(input);
        for (const [index, { deliveries }] of input.items.entries()) {
          const isStored = output.results[index]?.kind === 'accepted' && !output.fenced;
          if (isStored)
            lease(
              input.epoch,
              deliveries.filter(({ state }) => state === 'leased'),
            );
        }
        return output;
      },
      claim: async (input) => {
        const output = await store.claim(input);
        lease(input.epoch, output.deliveries);
        return output;
      },
      takeOver: async (input) => {
        const taken = await store.takeOver(input);
        lease(input.epoch, taken);
        for (const { messageId, destinationId } of taken) this.#interrupted.add(`${messageId} ${destinationId}`);
        return taken;
      },
      record: async (input) => {
        const output = await store.record(input);
        for (const [index, { attempt }] of input.items.entries()) {
          // One whose answer was lost is written again; a store may know the very attempt and say that it is there.
          if (output.results[index] !== 'recorded' || this.#written.has(attempt.id)) continue;
          this.#written.add(attempt.id);
          const key = `${attempt.messageId} ${attempt.destinationId}`;
          const owner = this.#owner.get(attempt.deliveryId);
          if (owner !== input.epoch) this.#violate(`fencing: ${input.epoch} wrote ${attempt.deliveryId} of ${owner}`);
          this.#owner.delete(attempt.deliveryId);
          if (attempt.decision.kind !== 'delivered') continue;
          if (!this.answered.has(key)) this.#violate(`recorded unsent: ${key}`);
          if (this.#succeeded.has(key)) this.#violate(`success recorded twice: ${key}`);
          this.#succeeded.add(key);
        }
        return output;
      },
    };
  }

  started(url: string, messageId: string): void {
    const key = `${messageId} ${this.#laneOf.get(url)}`;
    if (this.#succeeded.has(key)) this.#violate(`attempt after success: ${key}`);
  }

  ended(url: string, messageId: string, outcome: Outcome): void {
    if (outcome.kind !== 'response' || outcome.status >= 300) return;
    const key = `${messageId} ${this.#laneOf.get(url)}`;
    if (this.answered.has(key) && !this.#interrupted.has(key)) this.#violate(`delivered twice, unexplained: ${key}`);
    this.answered.add(key);
  }

  #violate(what: string): void {
    this.violations.push(what);
  }
}
