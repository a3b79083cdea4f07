import { describe, expect, it } from 'vitest';
import type { EngineEvent } from '../engine/index.ts';
import type { Decision } from '../model/index.ts';
import { HEALTHY } from '../model/index.ts';
import { eventLine } from './event-line.ts';

const NOON = new Date(2026, 0, 1, 12).getTime();

function attempt(decision: Decision, eventType = 'invoice.paid'): EngineEvent {
  return {
    kind: 'attempt',
    attempt: {
      id: 'atmpt_1',
      deliveryId: 'dlv_1',
      messageId: 'msg_1',
      applicationId: 'app_1',
      destinationId: 'ep_1',
      eventType,
      number: 1,
      trigger: 'scheduled',
      url: 'http://127.0.0.1:3000/',
      startedAt: NOON,
      durationMs: 1000,
      status: 503,
      response: '',
      responseTruncated: false,
      decision,
    },
    scheduleAttempts: 1,
    maxAttempts: 6,
  };
}

describe('events for a person', () => {
  it('a failed attempt says what happened and when it is tried again', () => {
    const reason = 'HTTP 503: retry 1 of 5 in 5 s';
    expect(eventLine(attempt({ kind: 'retry', delayMs: 5000, source: 'schedule', reason }), NOON)).toBe(
      '12:00:01  invoice.paid → http://127.0.0.1:3000/  HTTP 503: retry 1 of 5 in 5 s  next at 12:00:06\n',
    );
  });

  it('the last one says that a dead letter is left, and a forged line break does nothing', () => {
    const dead: Decision = { kind: 'dead', cause: 'rejected', reason: 'HTTP 404: not retried by this policy' };
    expect(eventLine(attempt(dead, 'a\nb'), NOON)).toBe(
      '12:00:01  a b → http://127.0.0.1:3000/  HTTP 404: not retried by this policy  now a dead letter\n',
    );
  });

  it('a delivery says at which attempt it succeeded, when it was not the first', () => {
    const delivered = attempt({ kind: 'delivered', reason: 'HTTP 204: delivered' }) as EngineEvent & {
      kind: 'attempt';
    };
    const line = '12:00:01  invoice.paid → http://127.0.0.1:3000/  HTTP 204: delivered';
    expect(eventLine(delivered, NOON)).toBe(`${line}\n`);
    const third = { ...delivered, attempt: { ...delivered.attempt, number: 3 } };
    expect(eventLine(third, NOON)).toBe(`${line}  at attempt 3\n`);
  });

  it('a stopped endpoint and trouble are told, a healthy one is not', () => {
    const about = { kind: 'endpoint', endpointId: 'ep_1', applicationId: 'app_1', statusChanged: true } as const;
    const health = { ...HEALTHY, status: 'failed', reason: 'attempts exhausted' } as const;
    expect(eventLine({ ...about, health }, NOON)).toBe('12:00:00  endpoint ep_1 is failed  attempts exhausted\n');
    expect(eventLine({ ...about, health: HEALTHY }, NOON)).toBeUndefined();
    expect(eventLine({ kind: 'trouble', error: new Error('disk full') }, NOON)).toContain('disk full');
  });

  it('what a former process left is one line, however much it is, but for what came to its end', () => {
    const retry: Decision = { kind: 'retry', delayMs: 0, source: 'interrupted', reason: 'interrupted: at once' };
    const dead: Decision = { kind: 'dead', cause: 'exhausted', reason: 'interrupted too often' };
    const takenOver = (decision: Decision) => ({ ...attempt(decision), takenOver: true }) as EngineEvent;
    expect(eventLine(takenOver(retry), NOON)).toBeUndefined();
    expect(eventLine(takenOver(dead), NOON)).toContain('now a dead letter');
    const about = { kind: 'taken_over', deliveryIds: ['dlv_1'] } as const;
    expect(eventLine({ ...about, count: 4000 }, NOON)).toBe(
      '12:00:00  a former process ended with 4000 deliveries under way, tried again now\n',
    );
    expect(eventLine({ ...about, count: 1 }, NOON)).toContain('1 delivery under way');
  });
});
