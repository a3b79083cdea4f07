import { expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { Lanes } from './lanes.ts';

it.each([
  ['bounded', 256],
  ['unbounded', Number.POSITIVE_INFINITY],
])('a claim asks for no more than it may in all, for lanes that are known and for others: %s', (_, mostPerClaim) => {
  const slots = 1024;
  const lanes = new Lanes({
    clock: systemClock,
    maxInFlight: slots,
    laneCeiling: 64,
    aheadMs: () => 0,
    mostPerClaim,
    start() {},
    onHungry() {},
  });
  for (let n = 0; n < 20; n++) lanes.leave(`lane ${n}`);
  const named = lanes.wants(64);
  const opened = lanes.opens(64, named);
  const asked = named.reduce((sum, { room }) => sum + room, opened.lanes * opened.room);
  expect(named).toHaveLength(20);
  expect(asked).toBeLessThanOrEqual(Math.min(slots, mostPerClaim));
  expect(asked).toBeGreaterThan(mostPerClaim === 256 ? 128 : 256);
});
