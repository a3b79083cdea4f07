/** The two relations that people query by hand. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accept } from './accept.ts';
import { claim } from './claim.ts';
import { type Db, openDb } from './driver.ts';
import { migrate } from './migrate.ts';
import { join } from './nodes.ts';
import { record } from './record.ts';
import { insert } from './records.ts';

const T0 = Date.parse('2026-01-01T00:00:00.000Z');
const MINUTE_MS = 60_000;
const TIMES = { createdAt: T0, updatedAt: T0 };

let db: Db;
let epoch = 0;

beforeEach(async () => {
  db = await openDb(':memory:');
  migrate(db, ':memory:');
  epoch = join(db, { now: T0, leaseMs: MINUTE_MS, name: 'test' }).epoch;
  insert(db, {
    kind: 'source',
    record: {
      id: 'src_1',
      name: 'Stripe',
      provider: 'stripe',
      settings: '{}',
      policy: 'payments-inbound',
      onUnknownEvent: 'keep',
      dedupe: { by: 'provider' },
      forwardAs: 'standard-webhooks',
      metadata: {},
      ...TIMES,
    },
  });
  insert(db, {
    kind: 'endpoint',
    record: {
      id: 'hdl_1',
      applicationId: 'src_1',
      url: 'handler:test',
      description: '',
      version: 1,
      metadata: {},
      headers: {},
      secrets: [],
      ...TIMES,
    },
  });
  const message = { id: 'msg_1', applicationId: 'src_1', eventType: 'invoice.paid', createdAt: T0 };
  const payload = new TextEncoder().encode('{"id":"evt_1"}');
  const deliveries = [{ id: 'dlv_1', destinationId: 'hdl_1', state: 'pending' as const }];
  const items = [{ message: { ...message, eventId: 'evt_1', payload }, fanoutRevision: 2, deliveries }];
  expect(accept(db, { epoch, now: T0, items }).results).toEqual([{ kind: 'accepted' }]);
});

afterEach(() => db.close());

function fail(now: number, number: number, dead: boolean): void {
  const discover = { lanes: 1, room: 1 };
  const [delivery] = claim(db, { epoch, now, lanes: [], discover, handlers: ['hdl_1'] }).deliveries;
  if (delivery === undefined) throw new Error('nothing is due');
  const { id: deliveryId, messageId, applicationId, destinationId, eventType, trigger } = delivery;
  const decision = dead
    ? ({ kind: 'dead', cause: 'exhausted', reason: 'attempts exhausted (2 of 2)' } as const)
    : ({ kind: 'retry', delayMs: MINUTE_MS, source: 'schedule', reason: 'retry' } as const);
  const attempt = {
    ...{ id: `atmpt_${number}`, deliveryId, messageId, applicationId, destinationId, eventType, number, trigger },
    ...{ url: 'handler:test', startedAt: now, durationMs: 0, status: 0, error: 'database' as const },
    ...{ response: `no connection ${number}`, responseTruncated: false, decision },
  };
  record(db, { epoch, now, items: [{ attempt, scheduleAttempts: number, firstAttemptAt: T0, maxAttempts: 4 }] });
}

describe('webhook_retry_queue and webhook_dead_letter_queue', () => {
  it('SUB-04 SUB-09 show a failed event with the documented columns until it is dead, and then as a dead letter', () => {
    expect(db.all('SELECT * FROM webhook_retry_queue')).toEqual([]);
    fail(T0, 1, false);
    expect(db.all('SELECT * FROM webhook_retry_queue')).toEqual([
      {
        id: 'dlv_1',
        stripe_event_id: 'evt_1',
        event_type: 'invoice.paid',
        payload: '{"id":"evt_1"}',
        retry_count: 0,
        max_retries: 3,
        next_retry_at: '2026-01-01T00:01:00.000Z',
        last_error: 'database: no connection 1',
        created_at: '2026-01-01T00:00:00.000Z',
        updated_at: '2026-01-01T00:00:00.000Z',
      },
    ]);
    fail(T0 + MINUTE_MS, 2, true);
    expect(db.all('SELECT * FROM webhook_retry_queue')).toEqual([]);
    const documented = `
      SELECT stripe_event_id, event_type, error, retry_count, original_timestamp, created_at
      FROM webhook_dead_letter_queue ORDER BY created_at DESC LIMIT 10`;
    expect(db.all(documented)).toEqual([
      {
        stripe_event_id: 'evt_1',
        event_type: 'invoice.paid',
        error: 'database: no connection 2',
        retry_count: 1,
        original_timestamp: '2026-01-01T00:00:00.000Z',
        created_at: '2026-01-01T00:01:00.000Z',
      },
    ]);
    expect(db.get<{ payload: string }>('SELECT payload FROM webhook_dead_letter_queue')?.payload).toBe(
      '{"id":"evt_1"}',
    );
  });

  it('the retry queue is read by an index of its own, not by a scan of all deliveries', () => {
    const plan = db.all<{ detail: string }>(
      "EXPLAIN QUERY PLAN SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE state = 'pending' AND attempts > 0 LIMIT 10)",
    );
    expect(plan.some(({ detail }) => detail.includes('deliveries_retrying'))).toBe(true);
  });
});
