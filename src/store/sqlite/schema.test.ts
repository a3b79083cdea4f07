/** What the database itself refuses, whatever the code above it does. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryState } from '../../model/index.ts';
import { type Db, openDb } from './driver.ts';
import { migrate } from './migrate.ts';

const INSERT = `
  INSERT INTO deliveries (id, message_id, application_id, destination_id, event_type, state, trigger_kind, attempts,
    schedule_attempts, due_at, lease_epoch, created_at, updated_at, reason, dead_cause)
  VALUES ('dlv_1', 'msg_1', 'app_1', 'ep_1', 'a', ?, 'scheduled', 0, 0, ?, ?, 0, 0, '', ?)`;

let db: Db;

beforeEach(async () => {
  db = await openDb(':memory:');
  migrate(db, ':memory:');
});

afterEach(() => db.close());

/** State with the columns that go with it: due time, owner, cause of death. */
const rowOf = (state: DeliveryState) =>
  [state, state === 'pending' ? 1 : null, state === 'leased' ? 1 : null, state === 'dead' ? 'rejected' : null] as const;

describe('deliveries', () => {
  it.each<[string, readonly [string, number | null, number | null, string | null]]>([
    ['a pending row without a due time', ['pending', null, null, null]],
    ['a leased row without an owner', ['leased', 1, null, null]],
    ['an owner of a row that is not leased', ['pending', 1, 1, null]],
    ['a final row with an owner', ['delivered', null, 1, null]],
    ['a dead row without a cause', ['dead', null, null, null]],
    ['a cause on a row that is not dead', ['delivered', null, null, 'rejected']],
    ['a state that the model does not know', ['sleeping', 1, null, null]],
  ])('refuses %s', (_, row) => {
    expect(() => db.run(INSERT, ...row)).toThrow();
  });

  it('refuses a second delivery of a message to a destination', () => {
    db.run(INSERT, ...rowOf('pending'));
    expect(() => db.run(INSERT.replace("'dlv_1'", "'dlv_2'"), ...rowOf('pending'))).toThrow(/UNIQUE/);
  });
});
