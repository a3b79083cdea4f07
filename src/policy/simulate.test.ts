import { describe, expect, it } from 'vitest';
import { PRESET_NAMES, presets } from './presets.ts';
import { maxAttempts } from './schedule.ts';
import { simulate } from './simulate.ts';

const MINUTE = 60_000;
const publicApi = presets['public-api'].policy;

describe('simulate', () => {
  it('SPI-01 a 10-minute outage is bridged by the fourth retry', () => {
    const { attempts, ...result } = simulate(publicApi, { outageMs: 10 * MINUTE, failure: 503, draws: [0] });
    expect(attempts.map((attempt) => attempt.startsAtMs / 1000)).toEqual([0, 5, 30, 155, 780]);
    expect(attempts.map((attempt) => attempt.outcome)).toEqual(['failed', 'failed', 'failed', 'failed', 'delivered']);
    expect(attempts[1]?.decision.reason).toBe('HTTP 503: retry 2 of 5 in 25 s');
    expect(result).toEqual({
      delivered: true,
      deliveredAfterMs: 780_000,
      lateMs: 780_000,
      summary: 'endpoint down for 10 min: delivered at attempt 5, 13 min late',
    });
  });

  it('SPI-01 an outage longer than the schedule ends in the dead-letter queue after about 65 minutes', () => {
    const result = simulate(publicApi, { outageMs: 120 * MINUTE, draws: [0] });
    expect(result.delivered).toBe(false);
    expect(result).not.toHaveProperty('deliveredAfterMs');
    expect(result.summary).toBe('endpoint down for 2 h: dead-lettered after attempt 6, 65 min');
    expect(result.attempts.at(-1)?.decision).toMatchObject({ kind: 'dead', cause: 'exhausted', endpoint: 'fail' });
  });

  it('PAY-02 payment events reach the dead-letter queue after 21 minutes', () => {
    const result = simulate(presets['payments-inbound'].policy, { outageMs: 24 * 60 * MINUTE });
    expect(result.attempts.map((attempt) => attempt.startsAtMs / MINUTE)).toEqual([0, 1, 6, 21]);
    expect(result.summary).toBe('endpoint down for 24 h: dead-lettered after attempt 4, 21 min');
  });

  it('a healthy endpoint gets it at once; a rejection says why', () => {
    expect(simulate(publicApi, { outageMs: 0 }).summary).toBe('endpoint healthy: delivered at attempt 1, at once');
    expect(simulate(publicApi, { outageMs: MINUTE, failure: 404 }).summary).toBe(
      'endpoint down for 1 min: dead-lettered after attempt 1, at once (HTTP 404: not retried by this policy)',
    );
  });

  it('delays count from the end of an attempt', () => {
    const result = simulate(publicApi, { outageMs: 20_000, draws: [0], attemptDurationMs: 10_000 });
    expect(result.attempts.map((attempt) => attempt.startsAtMs)).toEqual([0, 15_000, 50_000]);
    expect(result.deliveredAfterMs).toBe(60_000);
  });

  it('takes a whole outcome, so that Retry-After can be tried out', () => {
    const failure = {
      kind: 'response',
      status: 429,
      retryAfter: '60',
      body: '',
      bodyTruncated: false,
      durationMs: 0,
    } as const;
    const result = simulate(publicApi, { outageMs: 90_000, failure });
    expect(result.attempts.map((attempt) => attempt.startsAtMs)).toEqual([0, 60_000, 120_000]);
  });

  it('the same seed gives the same timeline, another seed another', () => {
    const timeline = (seed: number) => simulate(publicApi, { outageMs: 120 * MINUTE, seed });
    expect(timeline(7)).toEqual(timeline(7));
    expect(timeline(7).lateMs).not.toBe(timeline(8).lateMs);
  });

  it('BUD-02 the hash jitter follows the ids, not the draws', () => {
    const policy = { ...presets.outbox.policy, jitter: { kind: 'hash', basisPoints: 2000 } } as const;
    const timeline = (messageId: string, seed: number) =>
      simulate(policy, { outageMs: 60 * MINUTE, messageId, seed }).lateMs;
    expect(timeline('msg_1', 1)).toBe(timeline('msg_1', 2));
    expect(timeline('msg_1', 1)).not.toBe(timeline('msg_2', 1));
  });

  it.each(PRESET_NAMES)('%s ends under an outage without end, with every attempt used', (name) => {
    const { policy } = presets[name];
    const result = simulate(policy, { outageMs: Number.POSITIVE_INFINITY });
    expect(result.attempts).toHaveLength(maxAttempts(policy));
    expect(result.delivered).toBe(false);
  });
});
