import { type MessageRow, toMessage } from '../rows.ts';
import type { AcceptItem, RelayInput, RelayOutput } from '../store.ts';
import { type Entry, type Verdict, writeOn } from './accept.ts';
import { type Db, statement } from './driver.ts';
import { share } from './locks.ts';
import { within } from './within.ts';

// A message that another node is accepting is left to it.
const PICK = statement(
  'relay_pick',
  `WITH oldest AS MATERIALIZED (SELECT * FROM outbox ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED),
  picked AS (
    SELECT *, octet_length(payload) AS bytes,
      sum(octet_length(payload)) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS bytes_so_far
    FROM oldest)
  SELECT id, application_id, event_id, event_type, channels::jsonb, tags::jsonb, payload, created_at, NULL AS headers,
    NULL AS content_type, NULL AS conflicts
  FROM picked WHERE ${within('$2')} ORDER BY id`,
);
const REMOVE = statement('relay_remove', 'DELETE FROM outbox WHERE id = ANY($1::text[])');

/** Picked, fanned out, accepted and removed in one transaction: whatever happens, a message is in one place. */
export function relay(db: Db, input: RelayInput): Promise<RelayOutput> {
  return db.transaction(async (tx): Promise<RelayOutput> => {
    const messages = (await tx.all<MessageRow>(PICK, input.limit, input.maxBytes ?? null)).map(toMessage);
    if (messages.length === 0) return { fenced: false, results: [] };
    const items = await input.fanOut(messages);
    const entries = items.flatMap((item, index): Entry[] => (item === undefined ? [] : [[index, item]]));
    const owners = new Set(entries.map(([, { message }]) => message.applicationId));
    const node = { kind: 'node' as const, id: input.epoch };
    const locks = share(db, node, ...[...owners].map((id) => ({ kind: 'application' as const, id })));
    await tx.all({ text: `SELECT ${locks}` });
    const written = entries.length === 0 ? undefined : await writeOn(tx, db, input, entries);
    const refused = new Map(written?.refused.map((verdict) => [verdict.ord, verdict]));
    const results = messages.map((_, index) => resultOf(items[index], refused.get(index)));
    const done = messages.filter((_, index) => results[index] !== 'stale');
    await tx.run(
      REMOVE,
      done.map(({ id }) => id),
    );
    return { fenced: written?.alive === false, results };
  });
}

function resultOf(item: AcceptItem | undefined, verdict: Verdict | undefined): RelayOutput['results'][number] {
  if (item === undefined || verdict?.fanout_revision === null) return 'missing';
  return verdict === undefined ? 'accepted' : 'stale';
}
