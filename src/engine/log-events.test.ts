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

async function runWith(...answers: number[]) {
  const clock = createManualClock();
  receiver = await startReceiver(...answers);
  rig = await createEngineRig({ clock });
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const write = (level: string) => (fields: object, message: string) =>
    lines.push({ level, fields: { ...fields }, message });
  const logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
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
});
