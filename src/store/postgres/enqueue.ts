import { PosthornError } from '../../errors.ts';
import type { Message } from '../../model/index.ts';
import type { EnqueueResult, SqlClient } from '../outbox.ts';
import { writeNews } from './news.ts';

interface Row {
  readonly application_id: string | null;
  readonly queued: boolean;
}

/** Every node listens to it, the one that wrote it too: nobody else tells it of the caller's commit. */
const TELLER = 'outbox';

/**
 * Leaves a message in the caller's transaction: it exists if, and only if, that commits. One plain statement with every
 * name qualified, so that it runs whatever the caller's search path is; it takes no lock that another publisher waits
 * for, but for the event id, which is the caller's until the commit.
 */
export async function enqueue(
  { schema, channel }: { readonly schema: string; readonly channel: string },
  client: SqlClient,
  message: Message,
): Promise<EnqueueResult> {
  const at = quoted(schema);
  const eventId = message.eventId ?? null;
  const [row] = await rowsOf<Row>(client, enqueueStatement(at), [
    message.id,
    message.applicationId,
    eventId,
    message.eventType,
    message.channels === undefined ? null : JSON.stringify(message.channels),
    message.tags === undefined ? null : JSON.stringify(message.tags),
    Buffer.from(message.payload.buffer, message.payload.byteOffset, message.payload.byteLength),
    message.createdAt,
    channel,
    writeNews(TELLER, { work: true }),
  ]);
  if (row === undefined || row.application_id === null) return { kind: 'missing' };
  if (row.queued) return { kind: 'queued', applicationId: row.application_id };
  // In a statement of its own: the winner of a race committed after the first one had begun.
  const [known] = await rowsOf<{ message_id: string }>(
    client,
    `SELECT message_id FROM ${at}.event_ids WHERE application_id = $1::text AND event_id = $2::text`,
    [row.application_id, eventId],
  );
  if (known === undefined) throw gone(eventId);
  return { kind: 'duplicate', messageId: known.message_id };
}

function enqueueStatement(at: string): string {
  return `WITH owner AS (
    SELECT id FROM ${at}.applications WHERE id = $2::text OR name = $2::text ORDER BY id <> $2::text LIMIT 1),
  claimed AS (
    INSERT INTO ${at}.event_ids (application_id, event_id, message_id)
    SELECT id, $3::text, $1::text FROM owner WHERE $3::text IS NOT NULL
    ON CONFLICT DO NOTHING RETURNING 1),
  queued AS (
    INSERT INTO ${at}.outbox (id, application_id, event_id, event_type, channels, tags, payload, created_at)
    SELECT $1::text, id, $3::text, $4::text, $5::text, $6::text, $7::bytea, $8::bigint FROM owner
    WHERE $3::text IS NULL OR EXISTS (SELECT 1 FROM claimed)
    RETURNING 1)
  SELECT (SELECT id FROM owner) AS application_id, EXISTS (SELECT 1 FROM queued) AS queued,
    pg_notify($9::text, $10::text)::text AS told`;
}

async function rowsOf<R>(client: SqlClient, text: string, values: unknown[]): Promise<readonly R[]> {
  const result = await client.query(text, values);
  if (!Array.isArray(result?.rows)) {
    throw new PosthornError(
      'validation',
      'The client did not answer with { rows }: give a node-postgres client, or an object whose query(text, values) resolves to { rows }.',
    );
  }
  return result.rows as readonly R[];
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function gone(eventId: string | null): PosthornError {
  return new PosthornError(
    'conflict',
    `The event id ${JSON.stringify(eventId)} was taken a moment ago and is gone again: repeat the transaction.`,
  );
}
