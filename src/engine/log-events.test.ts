import { afterEach, describe, expect, it } from 'vitest';
import { createEngineRig, type EngineRig } from '../testing/engine-rig.ts';
import { createManualClock } from '../testing/manual-clock.ts';
import { type ScriptedReceiver, startReceiver } from '../testing/scripted-receiver.ts';
import { logEvent } from './log-events.ts';

let rig: EngineRig;
let receiver: ScriptedReceiver;

afterEach(async () => {
  await rig.close();
  await receiver.close();
});

function keptLines() {
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const write = (level: string) => (fields: object, message: string) =>
    lines.push({ level, fields: { ...fields }, message });
  const logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  return { lines, logger };
}

async function runWith(...answers: number[]) {
  const clock = createManualClock();
  receiver = await startReceiver(...answers);
  rig = await createEngineRig({ clock });
  const { lines, logger } = keptLines();
  rig.engine.on((event) => logEvent(logger, event));
  await rig.endpoint(receiver.url);
  await rig.publish();
  return { clock, lines };
}

describe('log lines', () => {
  it('BUL-06 every failed attempt logs attempt, maxAttempts, willRetry and error', async () => {
    const { clock, lines } = await runWith(503, 404);
    await rig.attempts(1);
    await clock.advance(6000);
    await rig.attempts(2);
    const failures = lines.filter(({ message }) => message === 'webhook delivery failed').map(({ fields }) => fields);
    expect(failures).toEqual([
      expect.objectContaining({ attempt: 1, maxAttempts: 6, willRetry: true, error: 'HTTP 503' }),
      expect.objectContaining({ attempt: 2, maxAttempts: 6, willRetry: false, error: 'HTTP 404' }),
    ]);
  });

  it('BUD-10 each cycle logs what was claimed, delivered, retried and failed', async () => {
    const { clock, lines } = await runWith(503, 200);
    await rig.attempts(1);
    await clock.advance(1000);
    await clock.advance(5000);
    await rig.attempts(2);
    await clock.advance(1000);
    const cycles = lines.filter(({ message }) => message === 'delivery cycle').map(({ fields }) => fields);
    expect(cycles).toEqual([
      { claimed: 1, delivered: 0, retried: 1, failed: 0 },
      { claimed: 1, delivered: 1, retried: 0, failed: 0 },
    ]);
  });

  it('a crash that interrupted many deliveries is one line with their number; each is a line for who debugs', async () => {
    const clock = createManualClock();
    receiver = await startReceiver(() => {});
    rig = await createEngineRig({ clock });
    await rig.endpoint(receiver.url);
    const ids = [];
    for (let n = 0; n < 7; n++) ids.push((await rig.delivery((await rig.publish({ n })).message.id)).id);
    receiver.answer(200);
    // The first node stands still beyond its lease, as a process that was killed does.
    const second = rig.secondEngine({ clock: createManualClock(clock.now() + 10_001) });
    const { lines, logger } = keptLines();
    const recorded = new Promise<void>((resolve) => {
      second.on((event) => {
        logEvent(logger, event);
        if (lines.filter(({ message }) => message === 'delivered').length === ids.length) resolve();
      });
    });
    await second.start();
    await recorded;
    const warnings = lines.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ fields, message }) => ({ ...fields, message }))).toEqual([
      { count: 7, deliveryIds: expect.any(Array), message: expect.stringContaining('died or stalled') },
    ]);
    const named = new Set(warnings[0]?.fields.deliveryIds as string[]);
    expect(ids.filter((id) => named.has(id))).toHaveLength(5);
    const details = lines.filter(({ level, message }) => level === 'debug' && message === 'webhook delivery failed');
    expect(new Set(details.map(({ fields }) => fields.deliveryId))).toEqual(new Set(ids));
    expect(details[0]?.fields).toMatchObject({ willRetry: true, error: expect.stringMatching(/^interrupted: /) });
    const { items } = await rig.store.listAttempts({ limit: 100, order: 'ascending' });
    expect(items.filter(({ error }) => error === 'interrupted')).toHaveLength(7);
  });

  it('an interrupted delivery that is a dead letter by it is a warning of its own', async () => {
    const { lines } = await runWith(503);
    await rig.attempts(1);
    const { attempt, ...rest } = await rig.event('attempt');
    const { lines: more, logger } = keptLines();
    const decision = { kind: 'dead', cause: 'exhausted', reason: 'interrupted too often' } as const;
    logEvent(logger, { ...rest, attempt: { ...attempt, decision }, takenOver: true });
    expect(more).toMatchObject([{ level: 'warn', message: 'webhook delivery failed', fields: { cause: 'exhausted' } }]);
    expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });
});
