import type { AcceptInput, AcceptItem, AcceptOutput, AcceptResult, Remembered } from '../store.ts';
import { type Db, type SqlValue, statement, type Tx } from './driver.ts';
import { afterCommit, leavesEmpty, violates } from './explain.ts';
import { noteLanes } from './lanes.ts';
import { share } from './locks.ts';
import { writeNews } from './news.ts';

/**
 * The whole batch in one statement: the rows of those items with which nothing is wrong, and what is with the others.
 * Only these are answered, beside the row that tells of the node: nearly every item is accepted. Another
 * transaction that takes an event id or key in the same moment makes it fail as a whole (on the primary key, or on
 * `expires_at` set to NULL), and the next try sees the winner.
 *
 * Nothing is joined but tables by their keys: to PostgreSQL an array is ten rows long, and it joins two of them by
 * comparing all with all. Most messages have one delivery, which comes with its item; an item finds others that it has by
 * their places, `others_from` to `others_to`.
 */
const ACCEPT = statement(
  'accept',
  `WITH node AS MATERIALIZED (SELECT EXISTS (SELECT 1 FROM nodes WHERE epoch = $1 AND expires_at > 0) AS alive),
  item AS MATERIALIZED (
    SELECT i.*, coalesce(a.fanout_revision, s.fanout_revision) AS current_revision, e.message_id AS known,
      r.key AS known_key, r.fingerprint AS known_fingerprint, r.status AS known_status, r.body AS known_body,
      r.expires_at AS known_expires_at,
      coalesce(a.fanout_revision, s.fanout_revision) = i.fanout_revision AND r.key IS NULL
        -- A message out of the outbox has had its event id since it was put there.
        AND (e.message_id IS NULL OR e.message_id = i.id) AS is_taken
    FROM unnest($4::int[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::text[], $10::text[], $11::text[],
      $12::bytea[], $13::bigint[], $14::text[], $15::text[], $16::int[], $17::text[], $18::bigint[], $19::text[], $20::text[],
      $21::text[], $22::text[], $23::text[], $24::int[], $25::int[])
    AS i (ord, id, application_id, fanout_revision, event_id, event_type, channels, tags, payload, created_at,
      key, fingerprint, status, body, expires_at, headers, content_type, delivery_id, destination_id, first_state,
      others_from, others_to)
    LEFT JOIN applications a ON a.id = i.application_id
    LEFT JOIN sources s ON s.id = i.application_id
    LEFT JOIN event_ids e ON e.application_id = i.application_id AND e.event_id = i.event_id
    LEFT JOIN remembered r ON r.key = i.key AND r.expires_at > $2),
  new_event_ids AS (
    INSERT INTO event_ids (application_id, event_id, message_id)
    SELECT application_id, event_id, id FROM item WHERE is_taken AND event_id IS NOT NULL AND known IS NULL
    ORDER BY application_id, event_id),
  new_remembered AS (
    INSERT INTO remembered (key, fingerprint, status, body, expires_at)
    SELECT key, fingerprint, status, body, expires_at FROM item WHERE is_taken AND key IS NOT NULL ORDER BY key
    ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
      expires_at = CASE WHEN remembered.expires_at <= $2 THEN excluded.expires_at END),
  new_messages AS (
    INSERT INTO messages (id, application_id, event_id, event_type, channels, tags, payload, created_at, headers, content_type)
    SELECT id, application_id, event_id, event_type, channels::jsonb, tags::jsonb, payload, created_at, headers, content_type
    FROM item WHERE is_taken),
  new_deliveries AS (
    INSERT INTO deliveries (id, message_id, application_id, destination_id, event_type, state, trigger_kind, attempts,
      schedule_attempts, due_at, lease_epoch, created_at, updated_at, reason)
    SELECT d.id, d.message_id, d.application_id, d.destination_id, d.event_type, s.state, 'scheduled', 0,
      0, CASE WHEN s.state <> 'leased' THEN $2::bigint END, CASE WHEN s.state = 'leased' THEN $1::bigint END, $2, $2,
      CASE WHEN s.state = 'held' THEN 'accepted while the endpoint was stopped' ELSE 'accepted' END
    FROM node, (
      SELECT delivery_id AS id, destination_id, first_state, id AS message_id, application_id, event_type
      FROM item WHERE is_taken AND delivery_id IS NOT NULL
      UNION ALL
      SELECT ($26::text[])[place], ($27::text[])[place], ($28::text[])[place], i.id, i.application_id, i.event_type
      FROM item i, generate_series(i.others_from, i.others_to) place WHERE i.is_taken AND i.others_to >= i.others_from) d,
      LATERAL (SELECT CASE WHEN d.first_state = 'leased' AND NOT node.alive THEN 'pending'
        ELSE d.first_state END AS state) s
    RETURNING destination_id, state, due_at),
  ${noteLanes('new_deliveries', '$3', '$29')}
  SELECT node.alive, ord, current_revision AS fanout_revision, known AS message_id, known_key AS key,
    known_fingerprint AS fingerprint, known_status AS status, known_body AS body, known_expires_at AS expires_at
  FROM node LEFT JOIN item ON is_taken IS NOT TRUE LEFT JOIN told ON true`,
);

/** Only what came again is compared, after the commit: the hot path reads no payload and looks into no partition for it. */
const COMPARE = statement(
  'accept_compare',
  `WITH again AS (
    SELECT i.ord, m.id, m.payload = i.payload AS same
    FROM unnest($1::int[], $2::text[], $3::bytea[]) AS i (ord, id, payload) JOIN messages m ON m.id = i.id),
  counted AS (
    UPDATE messages m SET conflicts = coalesce(m.conflicts, 0) + c.count
    FROM (SELECT id, count(*) AS count FROM again WHERE NOT same GROUP BY id) c WHERE m.id = c.id)
  SELECT ord FROM again WHERE same`,
);

/** A race for an event id or a key is lost to somebody who has it then: the next try answers. */
const MAX_RACES = 20;

interface Row extends Omit<Verdict, 'ord'> {
  alive: boolean;
  /** NULL where every item was accepted. */
  ord: number | null;
}

/** Why an item was not accepted. */
export interface Verdict {
  ord: number;
  fanout_revision: number | null;
  message_id: string | null;
  key: string | null;
  fingerprint: string;
  status: number;
  body: string;
  expires_at: number;
}

export interface Written {
  readonly alive: boolean;
  readonly refused: readonly Verdict[];
}

export type Entry = readonly [index: number, item: AcceptItem];

export async function accept(db: Db, input: AcceptInput): Promise<AcceptOutput> {
  const results: AcceptResult[] = [];
  try {
    const fenced = await writeAll(db, input, results);
    await compare(db, input, results);
    return { fenced, results };
  } catch (error) {
    throw results.length === 0 ? error : afterCommit(error);
  }
}

/** Fills in the results; answers whether this node is fenced. */
async function writeAll(db: Db, input: AcceptInput, results: AcceptResult[]): Promise<boolean> {
  let fenced = false;
  let left: readonly Entry[] = [...input.items.entries()];
  while (left.length > 0) {
    // Of items in one batch with the same event id or key, the first decides what the others are.
    const { firsts, others } = separate(left);
    const { alive, refused } = await write(db, input, firsts);
    fenced ||= !alive;
    for (const [index] of firsts) results[index] = { kind: 'accepted' };
    for (const verdict of refused) results[verdict.ord] = toResult(verdict);
    left = others.filter(([index, item]) => {
      const first = firsts.find(([earlier, other]) => results[earlier]?.kind === 'accepted' && clash(item, other));
      if (first !== undefined) results[index] = duplicateOf(item, first[1]);
      return first === undefined;
    });
  }
  return fenced;
}

async function compare(db: Db, input: AcceptInput, results: AcceptResult[]): Promise<void> {
  const again = input.items.flatMap(({ message }, ord) => {
    const result = results[ord];
    return result?.kind === 'duplicate' && result.by === 'eventId' ? [{ ord, result, message }] : [];
  });
  if (again.length === 0) return;
  const same = await db.all<{ ord: number }>(
    COMPARE,
    again.map(({ ord }) => ord),
    again.map(({ result }) => result.messageId),
    again.map(({ message }) => message.payload),
  );
  for (const { ord } of same) {
    const result = results[ord];
    if (result !== undefined) results[ord] = { ...result, samePayload: true } as AcceptResult;
  }
}

async function write(db: Db, input: AcceptInput, entries: readonly Entry[]): Promise<Written> {
  const applications = [...new Set(entries.map(([, { message }]) => message.applicationId))];
  const locks = share(
    db,
    { kind: 'node', id: input.epoch },
    ...applications.map((id) => ({ kind: 'application' as const, id })),
  );
  for (let races = 0; ; races++) {
    try {
      return await db.transaction(async (tx) => {
        const [written] = await Promise.all([writeOn(tx, db, input, entries), tx.commit()]);
        return written;
      }, locks);
    } catch (error) {
      const lost = violates(error, 'event_ids_pkey') || leavesEmpty(error, 'remembered', 'expires_at');
      if (!lost || races === MAX_RACES) throw error;
    }
  }
}

/** In a transaction that shares the locks of the node and of the owners. */
export async function writeOn(
  tx: Tx,
  db: Db,
  input: Pick<AcceptInput, 'epoch' | 'now'>,
  entries: readonly Entry[],
): Promise<Written> {
  const rows = await tx.all<Row>(ACCEPT, ...toParams(db, input, entries));
  return {
    alive: rows[0]?.alive === true,
    refused: rows.flatMap(({ ord, ...row }) => (ord === null ? [] : { ...row, ord })),
  };
}

function toParams(db: Db, input: Pick<AcceptInput, 'epoch' | 'now'>, entries: readonly Entry[]): SqlValue[] {
  const column = <T extends string | number | Uint8Array>(read: (item: AcceptItem) => T | undefined) =>
    entries.map(([, item]) => read(item) ?? null);
  const others = entries.flatMap(([, item]) => item.deliveries.slice(1));
  let counted = 0;
  const places = entries.map(([, item]) => {
    const from = counted + 1;
    counted += Math.max(0, item.deliveries.length - 1);
    return counted < from ? null : { from, to: counted };
  });
  return [
    input.epoch,
    input.now,
    db.channel,
    entries.map(([ord]) => ord),
    column(({ message }) => message.id),
    column(({ message }) => message.applicationId),
    column(({ fanoutRevision }) => fanoutRevision),
    column(({ message }) => message.eventId),
    column(({ message }) => message.eventType),
    column(({ message }) => message.channels && JSON.stringify(message.channels)),
    column(({ message }) => message.tags && JSON.stringify(message.tags)),
    column(({ message }) => message.payload),
    column(({ message }) => message.createdAt),
    column(({ remember }) => remember?.key),
    column(({ remember }) => remember?.fingerprint),
    column(({ remember }) => remember?.status),
    column(({ remember }) => remember?.body),
    column(({ remember }) => remember?.expiresAt),
    column(({ message }) => message.headers && JSON.stringify(message.headers)),
    column(({ message }) => message.contentType),
    column(({ deliveries }) => deliveries[0]?.id),
    column(({ deliveries }) => deliveries[0]?.destinationId),
    column(({ deliveries }) => deliveries[0]?.state),
    places.map((place) => place?.from ?? null),
    places.map((place) => place?.to ?? null),
    others.map(({ id }) => id),
    others.map(({ destinationId }) => destinationId),
    others.map(({ state }) => state),
    writeNews(db.teller, { work: true }),
  ];
}

function toResult(verdict: Verdict): AcceptResult {
  if (verdict.fanout_revision === null) return { kind: 'missing' };
  if (verdict.key !== null) {
    const { key, fingerprint, status, body, expires_at: expiresAt } = verdict;
    return { kind: 'duplicate', by: 'key', remembered: { key, fingerprint, status, body, expiresAt } };
  }
  if (verdict.message_id !== null)
    return { kind: 'duplicate', by: 'eventId', messageId: verdict.message_id, samePayload: false };
  return { kind: 'stale' };
}

function separate(entries: readonly Entry[]): { firsts: Entry[]; others: Entry[] } {
  const seen = new Set<string>();
  const firsts: Entry[] = [];
  const others: Entry[] = [];
  for (const entry of entries) {
    const names = namesOf(entry[1]);
    (names.some((name) => seen.has(name)) ? others : firsts).push(entry);
    for (const name of names) seen.add(name);
  }
  return { firsts, others };
}

function namesOf({ message, remember }: AcceptItem): string[] {
  return [
    ...(remember === undefined ? [] : [`key ${remember.key}`]),
    ...(message.eventId === undefined ? [] : [`event ${message.applicationId} ${message.eventId}`]),
  ];
}

function clash(item: AcceptItem, other: AcceptItem): boolean {
  const names = namesOf(other);
  return namesOf(item).some((name) => names.includes(name));
}

function duplicateOf(item: AcceptItem, first: AcceptItem): AcceptResult {
  const remembered: Remembered | undefined = first.remember;
  if (remembered !== undefined && remembered.key === item.remember?.key) {
    return { kind: 'duplicate', by: 'key', remembered };
  }
  return { kind: 'duplicate', by: 'eventId', messageId: first.message.id, samePayload: false };
}
