import { expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import type { ClaimedDelivery, Store } from '../store/index.ts';
import { reapOnce } from './reap.ts';
import type { Worker } from './worker.ts';

it('tells of what it recorded, and not of what it gave back or lost meanwhile', async () => {
  const ends = { dlv_recorded: 'recorded', dlv_given_back: 'released', dlv_lost: 'lost' } as const;
  const taken = Object.keys(ends).map((id) => ({ id }) as ClaimedDelivery);
  const told: string[][] = [];
  const count = await reapOnce({
    store: { takeOver: async () => taken } as unknown as Store,
    clock: systemClock,
    worker: {
      interrupt: async ({ delivery: { id } }) => ({ kind: ends[id as keyof typeof ends] }),
    } as Worker,
    epoch: () => 1,
    onTakenOver: (deliveries) => told.push(deliveries.map(({ id }) => id)),
  });
  expect(told).toEqual([['dlv_recorded']]);
  expect(count).toBe(3);
});
