/** How lists are read, told by SQLite's plans: by an index, whichever filters are set. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AttemptFilter, DeliveryFilter } from '../store.ts';
import { type Db, openDb, type RowsStatement, type SqlValue } from './driver.ts';
import { KnownEvents } from './event-ids.ts';
import { migrate } from './migrate.ts';
import { counts, listAttempts, listDeliveries } from './reads.ts';

let db: Db;

beforeEach(async () => {
  db = await openDb(':memory:');
  migrate(db, ':memory:');
});

afterEach(() => db.close());

const PAGE = { limit: 10, order: 'descending' } as const;

function plansOf(run: (spied: Db) => unknown): string[] {
  const plans: string[] = [];
  const explain = (sql: string, ...params: SqlValue[]) => {
    plans.push(...db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...params).map(({ detail }) => detail));
    return [];
  };
  const allForRows = ({ text, row }: RowsStatement) => explain(text(row), 'a', 'b');
  run({
    allForRows,
    all: explain,
    get: (sql: string, ...params: SqlValue[]) => void explain(sql, ...params),
  } as unknown as Db);
  return plans;
}

describe('listDeliveries', () => {
  it.each<DeliveryFilter>([
    { states: ['leased'] },
    { states: ['leased'], applicationId: 'app_1' },
    { states: ['leased'], destinationId: 'ep_1' },
    { states: ['dead'] },
    { states: ['held'], destinationId: 'ep_1' },
    { applicationId: 'app_1' },
    { destinationId: 'ep_1' },
    { messageId: 'msg_1' },
    { destinationId: 'ep_1', applicationId: 'app_1', states: ['delivered', 'dead'] },
  ])('reads no more than an index range for %j', (filter) => {
    const plans = plansOf((spied) => listDeliveries(spied, { ...filter, ...PAGE }));
    expect(plans.length).toBeGreaterThan(0);
    expect(plans.filter((plan) => plan.startsWith('SCAN'))).toEqual([]);
  });
});

describe('listDeliveries of an endpoint', () => {
  it.each<[DeliveryFilter['states'], string[]]>([
    [undefined, ['deliveries_direct', 'deliveries_waited']],
    [['delivered'], ['deliveries_direct', 'deliveries_waited']],
    [['dead'], ['deliveries_dead']],
    [['held'], ['deliveries_held']],
    [['pending'], ['deliveries_pending']],
  ])('in %j reads %j', (states, indexes) => {
    const filter = { destinationId: 'ep_1', ...(states && { states }) };
    const plans = plansOf((spied) => listDeliveries(spied, { ...filter, ...PAGE }));
    const used = plans.flatMap((plan) => / USING INDEX (\w+)/.exec(plan)?.[1] ?? []);
    expect(used).toEqual(indexes);
  });
});

describe('listAttempts', () => {
  it.each<AttemptFilter>([
    { messageId: 'msg_1' },
    { messageId: 'msg_1', destinationId: 'ep_1' },
    { messageId: 'msg_1', destinationId: 'ep_1', deliveryId: 'dlv_1', applicationId: 'app_1' },
  ])('reads the attempts of the message alone for %j', (filter) => {
    const plans = plansOf((spied) => listAttempts(spied, { ...filter, ...PAGE }));
    expect(plans[0]).toBe('SEARCH attempts USING INDEX attempts_by_message (message_id=?)');
    expect(plans[1]).toMatch(/^SEARCH deliveries USING INDEX deliveries_by_message \(message_id=\?/);
    expect(plans.slice(2).filter((plan) => plan !== 'USE TEMP B-TREE FOR ORDER BY')).toEqual([]);
  });

  it('reads the attempts of a destination in their order', () => {
    const plans = plansOf((spied) => listAttempts(spied, { destinationId: 'ep_1', applicationId: 'app_1', ...PAGE }));
    expect(plans).toEqual([
      'SEARCH attempts USING INDEX attempts_by_destination (destination_id=?)',
      'SEARCH deliveries USING INDEX deliveries_direct (destination_id=?)',
    ]);
  });

  it('looks at no delivery for what only failures can be', () => {
    const plans = plansOf((spied) => listAttempts(spied, { destinationId: 'ep_1', outcome: 'failure', ...PAGE }));
    expect(plans).toEqual(['SEARCH attempts USING INDEX attempts_by_destination (destination_id=?)']);
  });
});

describe('counts', () => {
  it('finds what is leased by the index of what was claimed, and from the mark of the nodes on', () => {
    const plans = plansOf((spied) => counts(spied, { most: 10 }));
    expect(plans.filter((plan) => plan.startsWith('SCAN deliveries') && !plan.includes('INDEX'))).toEqual([]);
    expect(plans.filter((plan) => /^SCAN [dl]\b/.test(plan))).toEqual([]);
    expect(plans).toContain('SEARCH deliveries USING INDEX deliveries_claimed (lease_epoch>?)');
    expect(plans).toContain('SEARCH deliveries USING INDEX sqlite_autoindex_deliveries_1 (id>?)');
  });
});

describe('the event ids of a batch', () => {
  it('are looked up by their indexes, however many messages there are', () => {
    const plans = plansOf((spied) => new KnownEvents(spied, [{ applicationId: 'src_1', eventId: 'evt_1' }]));
    expect(plans.filter((plan) => /(SCAN|SEARCH) [mk]\b/.test(plan))).toEqual([
      'SEARCH m USING INDEX messages_by_event_id (application_id=? AND event_id=?)',
      'SEARCH k USING PRIMARY KEY (application_id=? AND event_id=?)',
    ]);
  });
});
