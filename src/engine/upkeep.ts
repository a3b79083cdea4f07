/** Upkeep of the store, one node for all: expired answers are forgotten, old messages go, partitions are made. */
import type { Clock } from '../clock.ts';
import type { Store } from '../store/index.ts';
import type { LeaderDuty } from './lead.ts';

const FORGET_EVERY_MS = 60_000;
const FORGET_CHUNK = 500;
const MAINTAIN_EVERY_MS = 3_600_000;

export interface UpkeepOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly retentionMs?: number | undefined;
  readonly eventIdsForMs?: number | undefined;
}

export function upkeepDuties({ store, clock, retentionMs, eventIdsForMs }: UpkeepOptions): LeaderDuty[] {
  return [
    {
      name: 'forgetting expired idempotency keys',
      everyMs: FORGET_EVERY_MS,
      async run(signal) {
        let forgotten: number;
        do ({ forgotten } = await store.forget({ now: clock.now(), limit: FORGET_CHUNK }));
        while (forgotten === FORGET_CHUNK && !signal.aborted);
      },
    },
    {
      name: 'the upkeep of the store (old messages, partitions)',
      everyMs: MAINTAIN_EVERY_MS,
      async run(signal) {
        const keep = {
          ...(retentionMs === undefined ? {} : { retentionMs }),
          ...(eventIdsForMs === undefined ? {} : { eventIdsForMs }),
        };
        let after: number | undefined;
        do {
          const from = after === undefined ? {} : { after };
          ({ next: after } = await store.maintain({ now: clock.now(), ...keep, ...from }));
        } while (after !== undefined && !signal.aborted);
      },
    },
  ];
}
