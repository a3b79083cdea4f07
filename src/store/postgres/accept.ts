import type { AcceptInput, AcceptItem, AcceptOutput, AcceptResult, NewDelivery, Remembered } from '../store.ts';
import { type Db, type SqlValue, statement, type Tx } from './driver.ts';
import { afterCommit, leavesEmpty, violates } from './explain.ts';
import { noteLanes } from './lanes.ts';
import { share } from './locks.ts';
import { writeNews } from './news.ts';
import { Shapes } from './shapes.ts';

/**
 * The whole batch in one statement: the rows of those items with which nothing is wrong, and what is with the others.
 * Only these are answered, beside the row that tells of the node: nearly every item is accepted. Another
 * transaction that takes an event id or key in the same moment makes it fail as a whole (on the primary key, or on
 * `expires_at` set to NULL), and the next try sees the winner.
 *
 * What messages have in common crosses once, as a shape: whose they are, by which revision, of which type; so does what
 * deliveries have. A row is its ids, its bytes and the place of its shape. Nothing is joined but tables by their keys: to
 * PostgreSQL an array is ten rows long, and it joins two of them by comparing all with all. Payloads go straight from their
 * array into the table: gathered in a CTE first, each would be written twice more.
 */
const ACCEPT = statement(
  'accept',
  `WITH node AS MATERIALIZED (SELECT EXISTS (SELECT 1 FROM nodes WHERE epoch = $1 AND expires_at > 0) AS alive),
  shape AS MATERIALIZED (
    SELECT array_agg(current.revision ORDER BY s.place) AS revisions,
      array_agg(coalesce(current.revision = s.revision, false) ORDER BY s.place) AS are_current
    FROM unnest($5::text[], $6::bigint[]) WITH ORDINALITY AS s (application_id, revision, place)
    LEFT JOIN applications a ON a.id = s.application_id
    LEFT JOIN sources o ON o.id = s.application_id,
    LATERAL (SELECT coalesce(a.fanout_revision, o.fanout_revision) AS revision) current),
  -- Items with an event id or a key, which somebody may have had before.
  named AS MATERIALIZED (
    SELECT i.*, e.message_id AS known, r.key AS known_key, r.fingerprint AS known_fingerprint, r.status AS known_status,
      r.body AS known_body, r.expires_at AS known_expires_at,
      -- A message out of the outbox has had its event id since it was put there.
      r.key IS NOT NULL OR (e.message_id IS NOT NULL AND e.message_id <> i.id) AS is_refused
    FROM unnest($8::text[], $9::int[], $12::text[], $17::text[], $18::text[], $19::int[], $20::text[], $21::bigint[])
      WITH ORDINALITY AS i (id, shape, event_id, key, fingerprint, status, body, expires_at, place)
    LEFT JOIN event_ids e ON e.application_id = ($5::text[])[i.shape] AND e.event_id = i.event_id
    LEFT JOIN remembered r ON r.key = i.key AND r.expires_at > $2
    WHERE i.event_id IS NOT NULL OR i.key IS NOT NULL),
  refused AS MATERIALIZED (SELECT coalesce(array_agg(place), '{}') AS places FROM named WHERE is_refused),
  taken AS MATERIALIZED (
    SELECT named.* FROM named, shape WHERE NOT is_refused AND shape.are_current[named.shape]),
  new_event_ids AS (
    INSERT INTO event_ids (application_id, event_id, message_id)
    SELECT ($5::text[])[shape] AS application_id, event_id, id FROM taken WHERE event_id IS NOT NULL AND known IS NULL
    ORDER BY application_id, event_id),
  new_remembered AS (
    INSERT INTO remembered (key, fingerprint, status, body, expires_at)
    SELECT key, fingerprint, status, body, expires_at FROM taken WHERE key IS NOT NULL ORDER BY key
    ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
      expires_at = CASE WHEN remembered.expires_at <= $2 THEN excluded.expires_at END),
  new_messages AS (
    INSERT INTO messages (id, application_id, event_id, event_type, channels, tags, payload, created_at, headers, content_type)
    SELECT i.id, ($5::text[])[i.shape], i.event_id, ($7::text[])[i.shape], i.channels::jsonb, i.tags::jsonb, i.payload,
      i.created_at, i.headers, i.content_type
    FROM shape, refused, unnest($8::text[], $9::int[], $10::bytea[], $11::bigint[], $12::text[], $13::text[], $14::text[],
      $15::text[], $16::text[])
      WITH ORDINALITY AS i (id, shape, payload, created_at, event_id, channels, tags, headers, content_type, place)
    WHERE shape.are_current[i.shape] AND i.place <> ALL(refused.places)),
  new_deliveries AS (
    INSERT INTO deliveries (id, message_id, application_id, destination_id, event_type, state, trigger_kind, attempts,
      schedule_attempts, due_at, lease_epoch, created_at, updated_at, reason)
    SELECT d.id, d.message_id, ($5::text[])[d.message_shape], ($26::text[])[d.shape], ($7::text[])[d.message_shape], s.state,
      'scheduled', 0, 0, CASE WHEN s.state <> 'leased' THEN $2::bigint END,
      CASE WHEN s.state = 'leased' THEN $1::bigint END, $2, $2,
      CASE WHEN s.state = 'held' THEN 'accepted while the endpoint was stopped' ELSE 'accepted' END
    FROM node, shape, refused, unnest($22::text[], $23::text[], $24::int[], $25::int[], $28::int[])
      AS d (id, message_id, message_place, message_shape, shape),
      LATERAL (SELECT CASE WHEN ($27::text[])[d.shape] = 'leased' AND NOT node.alive THEN 'pending'
        ELSE ($27::text[])[d.shape] END AS state) s
    WHERE shape.are_current[d.message_shape] AND d.message_place <> ALL(refused.places)
    RETURNING destination_id, state, due_at),
  ${noteLanes('new_deliveries', '$3', '$4')}
  SELECT node.alive, CASE WHEN false = ANY(shape.are_current) THEN to_json(shape.revisions) END AS revisions,
    named.place, named.known AS message_id, named.known_key AS key, named.known_fingerprint AS fingerprint,
    named.known_status AS status, named.known_body AS body, named.known_expires_at AS expires_at
  FROM node CROSS JOIN shape LEFT JOIN named ON is_refused LEFT JOIN told ON true`,
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

interface Row extends Omit<Verdict, 'ord' | 'fanout_revision'> {
  alive: boolean;
  /** The owners' revisions, by shape; NULL where all are as the items expect. */
  revisions: (number | null)[] | null;
  /** Of the item among those given, from 1 on; NULL where no event id and no key was taken. */
  place: number | null;
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
  const shapes = new Shapes(({ message, fanoutRevision }: AcceptItem) => [
    message.applicationId,
    fanoutRevision,
    message.eventType,
  ]);
  const places = entries.map(([, item]) => shapes.placeOf(item));
  const rows = await tx.all<Row>(ACCEPT, ...toParams(db, input, entries, shapes.all, places));
  const named = new Map(rows.map((row) => [row.place, row]));
  const revisions = rows[0]?.revisions;
  const refused = entries.flatMap(([ord, { fanoutRevision }], index): Verdict[] => {
    const revision = revisions == null ? fanoutRevision : (revisions[(places[index] ?? 0) - 1] ?? null);
    const row = named.get(index + 1);
    if (row !== undefined) return [{ ...row, ord, fanout_revision: revision }];
    return revision === fanoutRevision ? [] : [{ ...NOT_NAMED, ord, fanout_revision: revision }];
  });
  return { alive: rows[0]?.alive === true, refused };
}

const NOT_NAMED = { message_id: null, key: null, fingerprint: '', status: 0, body: '', expires_at: 0 };

function toParams(
  db: Db,
  input: Pick<AcceptInput, 'epoch' | 'now'>,
  entries: readonly Entry[],
  shapes: readonly AcceptItem[],
  places: readonly number[],
): SqlValue[] {
  const column = <T extends string | number | Uint8Array>(read: (item: AcceptItem) => T | undefined) =>
    entries.map(([, item]) => read(item) ?? null);
  const deliveryShapes = new Shapes(({ destinationId, state }: NewDelivery) => [destinationId, state]);
  const deliveries = entries.flatMap(([, item], index) =>
    item.deliveries.map((delivery) => ({
      id: delivery.id,
      messageId: item.message.id,
      messagePlace: index + 1,
      messageShape: places[index] ?? 0,
      shape: deliveryShapes.placeOf(delivery),
    })),
  );
  return [
    input.epoch,
    input.now,
    db.channel,
    writeNews(db.teller, { work: true }),
    shapes.map(({ message }) => message.applicationId),
    shapes.map(({ fanoutRevision }) => fanoutRevision),
    shapes.map(({ message }) => message.eventType),
    column(({ message }) => message.id),
    places,
    column(({ message }) => message.payload),
    column(({ message }) => message.createdAt),
    column(({ message }) => message.eventId),
    column(({ message }) => message.channels && JSON.stringify(message.channels)),
    column(({ message }) => message.tags && JSON.stringify(message.tags)),
    column(({ message }) => message.headers && JSON.stringify(message.headers)),
    column(({ message }) => message.contentType),
    column(({ remember }) => remember?.key),
    column(({ remember }) => remember?.fingerprint),
    column(({ remember }) => remember?.status),
    column(({ remember }) => remember?.body),
    column(({ remember }) => remember?.expiresAt),
    deliveries.map(({ id }) => id),
    deliveries.map(({ messageId }) => messageId),
    deliveries.map(({ messagePlace }) => messagePlace),
    deliveries.map(({ messageShape }) => messageShape),
    deliveryShapes.all.map(({ destinationId }) => destinationId),
    deliveryShapes.all.map(({ state }) => state),
    deliveries.map(({ shape }) => shape),
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
