import { describe, expect, it } from 'vitest';
import { type Job, Lane } from './lane.ts';
import { Slots } from './slots.ts';

const MOST = 64;

function job(destinationId: string): Job {
  const delivery = {
    id: 'dlv_1',
    messageId: 'msg_1',
    applicationId: 'app_1',
    destinationId,
    eventType: 'test',
    trigger: 'scheduled' as const,
    attempts: 0,
    scheduleAttempts: 0,
    firstAttemptAt: undefined,
    dueAt: 0,
    createdAt: 0,
    payload: new Uint8Array(),
  };
  return { delivery, epoch: 1 };
}

function lane(standing: Lane['standing']): Lane {
  const made = new Lane('ep_1', 64, () => 0);
  made.standing = standing;
  return made;
}

/** How many lanes of one request each get a slot. */
function fill(slots: Slots, standing: Lane['standing']): number {
  let taken = 0;
  for (let each = lane(standing); slots.hasOneFor(each); each = lane(standing)) {
    slots.take(job(each.destinationId), each);
    taken += 1;
  }
  return taken;
}

describe('slots', () => {
  it('ALL-03 any number of dead lanes gets a quarter of them', () => {
    expect(fill(new Slots(MOST), 'failing')).toBe(MOST / 4);
  });

  it.each([
    ['proven', 'unknown'],
    ['unknown', 'proven'],
  ] as const)('any number of %s lanes leaves some to %s ones', (first, second) => {
    const slots = new Slots(MOST);
    expect(fill(slots, first)).toBe((MOST * 15) / 16);
    expect(fill(slots, second)).toBe(MOST / 16);
    expect(slots.free).toBe(0);
  });

  it('one busy lane leaves a quarter of them to others', () => {
    const slots = new Slots(MOST);
    const busy = lane('proven');
    busy.configure(2 * MOST, undefined);
    for (let index = 0; index < 2 * MOST; index++) busy.enqueue(job(busy.destinationId));
    // Each success raises its limit by one.
    for (let index = 0; index < 2 * MOST; index++) {
      busy.next(0);
      busy.finish(true, 0);
    }
    for (let index = 0; index < 2 * MOST; index++) busy.enqueue(job(busy.destinationId));
    while (slots.hasOneFor(busy)) {
      const next = busy.next(0);
      if (next === undefined || 'waitMs' in next) break;
      slots.take(next, busy);
    }
    expect(slots.free).toBe(MOST / 4);
  });

  it('who waits gets one turn each, in the order in which they came', () => {
    const slots = new Slots(1);
    const holder = lane('proven');
    const held = job(holder.destinationId);
    slots.take(held, holder);
    const [first, second] = [lane('proven'), lane('proven')];
    slots.queue(first);
    slots.queue(second);
    slots.queue(first);
    expect(slots.next()).toBeUndefined();
    slots.giveBack(held);
    expect([slots.next(), slots.next(), slots.next()]).toEqual([first, second, undefined]);
  });
});
