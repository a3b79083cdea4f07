import { afterEach, describe, expect, it } from 'vitest';
import { createEngineRig, type EngineRig } from '../testing/engine-rig.ts';
import { createManualClock } from '../testing/manual-clock.ts';
import { startReceiver } from '../testing/scripted-receiver.ts';
import { type DeadLetterNotice, onDeadLetter } from './dead-letters.ts';

let rig: EngineRig | undefined;
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await rig?.close();
  for (const close of closing.splice(0)) await close();
});

async function receiver(...statuses: number[]) {
  const made = await startReceiver(...statuses, 200);
  closing.push(() => made.close());
  return made;
}

describe('an engine that takes no work by itself', () => {
  it('SUB-10 accepts, and tries nothing until it is asked to', async () => {
    const clock = createManualClock();
    const target = await receiver();
    rig = await createEngineRig({ clock, takesWork: false });
    await rig.endpoint(target.url);
    const { message } = await rig.publish();
    await clock.advance(60_000);
    expect(target.arrivals).toHaveLength(0);
    expect((await rig.delivery(message.id)).state).toBe('pending');
    expect(await rig.engine.workDue(10)).toEqual({ claimed: 1, delivered: 1, retried: 0, failed: 0 });
    expect((await rig.delivery(message.id)).state).toBe('delivered');
    expect(await rig.engine.workDue(10)).toMatchObject({ claimed: 0 });
  });

  it('SUB-10 tries no more than its limit, over all lanes, and goes on where it stopped', async () => {
    const clock = createManualClock();
    const target = await receiver();
    rig = await createEngineRig({ clock, takesWork: false });
    for (const path of ['a', 'b']) await rig.endpoint(`${target.url}${path}`);
    for (let i = 0; i < 4; i++) await rig.publish({ i });
    const rounds: number[] = [];
    for (let i = 0; i < 4; i++) rounds.push((await rig.engine.workDue(3)).claimed);
    expect(rounds).toEqual([3, 3, 2, 0]);
    expect(target.arrivals).toHaveLength(8);
  });

  it('SUB-10 leaves retries until they are due', async () => {
    const clock = createManualClock();
    const target = await receiver(503);
    rig = await createEngineRig({ clock, takesWork: false });
    await rig.endpoint(target.url, { policy: 'stripe-subscriptions' });
    await rig.publish();
    expect(await rig.engine.workDue(10)).toMatchObject({ retried: 1 });
    await clock.advance(29_999);
    expect(await rig.engine.workDue(10)).toMatchObject({ claimed: 0 });
    await clock.advance(1);
    expect(await rig.engine.workDue(10)).toMatchObject({ delivered: 1 });
  });
});

it('PAY-05 tells of each dead letter, with the id of its event', async () => {
  const clock = createManualClock();
  const target = await receiver(400);
  rig = await createEngineRig({ clock });
  const told: DeadLetterNotice[] = [];
  const heard = new Promise<void>((resolve) => {
    if (rig === undefined) return;
    onDeadLetter(
      rig.engine,
      rig.store,
      (notice) => {
        told.push(notice);
        resolve();
      },
      () => {},
    );
  });
  await rig.endpoint(target.url);
  const { message } = await rig.publish({ a: 1 }, { eventId: 'evt_dead' });
  await heard;
  expect(told).toMatchObject([{ eventId: 'evt_dead', messageId: message.id, cause: 'rejected' }]);
});
