import { expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import type { Job } from './lane.ts';
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

it('has plenty while more wait to be started than the next accept takes, and none once they were given up', () => {
  const started: Job[] = [];
  const lanes = new Lanes({
    clock: systemClock,
    maxInFlight: 1024,
    laneCeiling: 64,
    aheadMs: () => 0,
    mostPerClaim: Number.POSITIVE_INFINITY,
    start: (job) => void started.push(job),
    onHungry() {},
  });
  const job = (n: number): Job => ({
    epoch: 1,
    delivery: {
      id: `dlv_${n}`,
      messageId: 'msg_1',
      applicationId: 'app_1',
      destinationId: 'ep_1',
      eventType: 'a.b',
      trigger: 'scheduled',
      attempts: 0,
      scheduleAttempts: 0,
      firstAttemptAt: undefined,
      dueAt: 0,
      createdAt: 0,
      payload: new Uint8Array(8),
    },
  });
  for (let n = 0; n < 300; n++) lanes.startClaimed(job(n));
  expect(started.length).toBeLessThan(44);
  expect(lanes.hasPlenty).toBe(true);
  for (let n = 0; started.length < 44; n++) lanes.finish(started[n] as Job, true);
  expect(lanes.hasPlenty).toBe(false);
  for (let n = 300; n < 400; n++) lanes.startClaimed(job(n));
  expect(lanes.hasPlenty).toBe(true);
  lanes.drain();
  expect(lanes.hasPlenty).toBe(false);
});
