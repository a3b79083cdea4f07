import { expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import type { ClaimedDelivery } from '../store/index.ts';
import type { JobEnd } from './lane.ts';
import { reapOnce } from './reap.ts';

it('tells of what it recorded, and not of what it gave back or lost meanwhile', async () => {
  const ends = { dlv_recorded: 'recorded', dlv_given_back: 'released', dlv_lost: 'lost' } as const;
  const taken = Object.keys(ends).map((id) => ({ id }) as ClaimedDelivery);
  const told: string[][] = [];
  const count = await reapOnce({
    store: { takeOver: async () => taken },
    clock: systemClock,
    worker: {
      interrupt: async ({ delivery: { id } }) => ({ kind: ends[id as keyof typeof ends] }) as JobEnd,
    },
    epoch: () => 1,
    onTakenOver: (deliveries) => told.push(deliveries.map(({ id }) => id)),
  });
  expect(told).toEqual([['dlv_recorded']]);
  expect(count).toBe(3);
});
