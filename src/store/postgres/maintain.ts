/**
 * Messages and attempts by week. Ids begin with their time, so a week is a range of ids: a partition is made before its
 * week begins, and retention drops whole ones instead of deleting rows.
 */
import { floorId } from '../../ids.ts';
import type { MaintainInput, MaintainOutput } from '../store.ts';
import { type Db, statement, type Tx } from './driver.ts';
import { sqlState } from './explain.ts';

const WEEK_MS = 7 * 24 * 3_600_000;
const WEEKS_AHEAD = 2;
const TABLES = ['messages', 'attempts'] as const;
const MOST_PER_DELETE = 5000;

/** Rows of that week are in the default partition already, or somebody had the table: the next round tries again. */
const NOT_NOW = new Set(['23514', '55P03', '42P07', '42P17']);

const PARTITIONS = statement(
  'partitions',
  `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = 'messages'::regclass AND c.relname ~ '^messages_w[0-9]+$'`,
);
// Only one node at a time; the others go on without waiting.
const LEAD = statement(
  'lead_partitions',
  "SELECT pg_try_advisory_xact_lock(hashtextextended('posthorn partitions ' || $1, 0)) AS lead",
);
const HAS_OPEN = statement(
  'week_has_open',
  `SELECT 1 FROM deliveries WHERE message_id >= $1 AND message_id < $2 AND state NOT IN ('delivered', 'cancelled') LIMIT 1`,
);
const DELETE_FINISHED = statement(
  'week_delete_finished',
  `DELETE FROM deliveries WHERE state IN ('delivered', 'cancelled') AND id = ANY(ARRAY(
    SELECT id FROM deliveries WHERE message_id >= $1 AND message_id < $2 AND state IN ('delivered', 'cancelled') LIMIT $3))`,
);
const DELETE_EVENT_IDS = statement(
  'week_delete_event_ids',
  `DELETE FROM event_ids WHERE message_id >= $1 AND message_id < $2 AND left(application_id, 4) <> 'src_'`,
);
const ADVANCE = statement(
  'upkeep_advance',
  `INSERT INTO upkeep (name, done_to) VALUES ('event_ids', $1)
  ON CONFLICT (name) DO UPDATE SET done_to = excluded.done_to WHERE upkeep.done_to < excluded.done_to`,
);
// No index knows the messages of event ids, for it would cost every accept: once a week all are looked at.
const FORGET_EVENT_IDS = statement(
  'forget_event_ids',
  `DELETE FROM event_ids e WHERE e.message_id < $1 AND left(e.application_id, 4) = 'src_'
    AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.id = e.message_id)`,
);

export async function maintain(db: Db, input: MaintainInput): Promise<MaintainOutput> {
  await maintainPartitions(db, input);
  await forgetEventIds(db, input);
  return {};
}

/** Where messages are kept for ever so are their ids, and those of the few that a person removed do not matter. */
async function forgetEventIds(db: Db, { now, retentionMs, eventIdsForMs = 0 }: MaintainInput): Promise<void> {
  if (retentionMs === undefined) return;
  const week = Math.floor((now - eventIdsForMs) / WEEK_MS);
  await asLeader(db, async (tx) => {
    if ((await tx.run(ADVANCE, week)) === 0) return false;
    await tx.run(FORGET_EVENT_IDS, floorId('msg', week * WEEK_MS));
    return true;
  });
}

/** Partitions for the weeks to come, and none for those past `retentionMs`. */
export async function maintainPartitions(
  db: Db,
  input: MaintainInput,
): Promise<{ created: string[]; dropped: string[] }> {
  const created = await createPartitions(db, input.now);
  const dropped = input.retentionMs === undefined ? [] : await dropPartitions(db, input.now - input.retentionMs);
  return { created, dropped };
}

function createPartitions(db: Db, now: number): Promise<string[]> {
  return createPartitionsFor(
    db,
    Array.from({ length: WEEKS_AHEAD + 1 }, (_, ahead) => now + ahead * WEEK_MS),
  );
}

/** Partitions for the weeks that these times are in. */
export async function createPartitionsFor(db: Db, times: readonly number[]): Promise<string[]> {
  const known = await weeksOf(db);
  const created: string[] = [];
  for (const week of new Set(times.map((time) => Math.floor(time / WEEK_MS)))) {
    if (known.has(week)) continue;
    if (await asLeader(db, (tx) => createWeek(tx, week))) created.push(`messages_w${week}`);
  }
  return created;
}

/** Made beside the table and attached then: that keeps no reader or writer of the other partitions waiting. */
async function createWeek(tx: Tx, week: number): Promise<boolean> {
  const [from, to] = boundsOf(week);
  for (const table of TABLES) {
    const name = `${table}_w${week}`;
    await tx.run({ text: `CREATE TABLE ${name} (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)` });
    await tx.run({ text: `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')` });
  }
  return true;
}

/**
 * A week goes when nothing in it is open: a message that still has to be delivered, is held or is a dead letter keeps
 * its whole week, because its bytes are needed.
 */
async function dropPartitions(db: Db, before: number): Promise<string[]> {
  const dropped: string[] = [];
  for (const week of [...(await weeksOf(db))].sort((a, b) => a - b)) {
    if ((week + 1) * WEEK_MS > before) break;
    const [from, to] = boundsOf(week);
    if ((await db.all(HAS_OPEN, from, to)).length > 0) continue;
    while ((await db.run(DELETE_FINISHED, from, to, MOST_PER_DELETE)) === MOST_PER_DELETE);
    const gone = await asLeader(db, async (tx) => {
      // Between the look and the lock a delivery may have been sent again by hand.
      await tx.run({ text: 'LOCK TABLE deliveries IN SHARE ROW EXCLUSIVE MODE' });
      if ((await tx.all(HAS_OPEN, from, to)).length > 0) return false;
      await tx.run(DELETE_FINISHED, from, to, Number.MAX_SAFE_INTEGER);
      await tx.run(DELETE_EVENT_IDS, from, to);
      for (const table of TABLES) await tx.run({ text: `DROP TABLE ${table}_w${week}` });
      return true;
    });
    if (gone) dropped.push(`messages_w${week}`);
  }
  return dropped;
}

/** Answers whether it was done: not by a node that does not lead, nor where `work` says no. */
async function asLeader(db: Db, work: (tx: Tx) => Promise<boolean>): Promise<boolean> {
  try {
    return await db.transaction(async (tx) => {
      await tx.run({ text: "SET LOCAL lock_timeout = '2s'" });
      const [row] = await tx.all<{ lead: boolean }>(LEAD, db.schema);
      return row?.lead === true && (await work(tx));
    });
  } catch (error) {
    if (NOT_NOW.has(sqlState(error))) return false;
    throw error;
  }
}

async function weeksOf(db: Db): Promise<Set<number>> {
  const rows = await db.all<{ name: string }>(PARTITIONS);
  return new Set(rows.map(({ name }) => Number(name.slice('messages_w'.length))));
}

function boundsOf(week: number): [from: string, to: string] {
  return [floorId('msg', week * WEEK_MS), floorId('msg', (week + 1) * WEEK_MS)];
}
