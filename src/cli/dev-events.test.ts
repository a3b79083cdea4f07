import { describe, expect, it } from 'vitest';
import type { EngineEvent } from '../engine/index.ts';
import type { ReceivedNotice } from '../inbound/index.ts';
import type { Decision } from '../model/index.ts';
import { createManualClock } from '../testing/manual-clock.ts';
import { DevEvents } from './dev-events.ts';

const INBOX = 'ep_inbox';

function open() {
  const clock = createManualClock(new Date(2026, 0, 1, 12).getTime());
  let out = '';
  const events = new DevEvents({ out: (text) => (out += text), err() {}, env: {}, clock });
  return { clock, events, lines: () => out.split('\n').slice(0, -1) };
}

function attempt(destinationId: string, decision: Decision, startedAt: number): EngineEvent {
  const ids = { id: 'atmpt_1', deliveryId: 'dlv_1', messageId: 'msg_1', applicationId: 'app_1', destinationId };
  const answer = { status: 204, response: '', responseTruncated: false, startedAt, durationMs: 0, decision };
  const about = { eventType: 'a.b', number: 1, trigger: 'scheduled', url: 'http://127.0.0.1:3000/' } as const;
  return { kind: 'attempt', attempt: { ...ids, ...about, ...answer }, scheduleAttempts: 1, maxAttempts: 6 };
}

const DELIVERED: Decision = { kind: 'delivered', reason: 'HTTP 204: delivered' };
const RETRY: Decision = { kind: 'retry', delayMs: 5000, source: 'schedule', reason: 'HTTP 503: retry 1 of 5 in 5 s' };
const STORED: ReceivedNotice = {
  ...{ source: 'stripe', status: 200, became: 'stored' },
  ...{ eventType: 'invoice.paid', eventId: 'evt_1', destinations: 0 },
};

describe('the screen of posthorn dev', () => {
  it('shows what a source took and what it refused, and why', () => {
    const { events, lines } = open();
    events.open(INBOX);
    events.received(STORED);
    events.received({ ...STORED, destinations: 2 });
    events.received({ ...STORED, became: 'skipped' });
    const reason = 'the signature matches none of the secrets\nand more';
    events.received({ source: 'stripe', status: 401, became: 'refused', reason });
    expect(lines()).toEqual([
      '12:00:00  ← stripe  invoice.paid  evt_1  stored; nobody is for it',
      '12:00:00  ← stripe  invoice.paid  evt_1  stored; 2 are for it',
      '12:00:00  ← stripe  invoice.paid  evt_1  received before',
      '12:00:00  ← stripe  401 refused: the signature matches none of the secrets and more',
    ]);
  });

  it('waits until the inbox is open, and leaves to the inbox what reached it', () => {
    const { clock, events, lines } = open();
    events.received(STORED);
    events.tell(attempt(INBOX, RETRY, clock.now()));
    events.tell(attempt('ep_mine', DELIVERED, clock.now()));
    expect(lines()).toEqual([]);
    events.open(INBOX);
    events.tell(attempt(INBOX, DELIVERED, clock.now() + 1));
    expect(lines()).toEqual([
      '12:00:00  ← stripe  invoice.paid  evt_1  stored; nobody is for it',
      '12:00:00  a.b → http://127.0.0.1:3000/  HTTP 204: delivered',
    ]);
  });

  it('counts what goes well beyond twenty lines in a second, and shows each failure', async () => {
    const { clock, events, lines } = open();
    events.open(INBOX);
    for (let n = 0; n < 332; n++) events.tell(attempt('ep_mine', DELIVERED, clock.now()));
    expect(lines()).toHaveLength(20);
    for (let n = 0; n < 30; n++) events.tell(attempt('ep_mine', RETRY, clock.now()));
    expect(lines()).toHaveLength(50);
    await clock.advance(1000);
    expect(lines().at(-1)).toBe('12:00:01  and 312 more');
    events.received(STORED);
    expect(lines()).toHaveLength(52);
    await clock.advance(1000);
    expect(lines()).toHaveLength(52);
  });
});
