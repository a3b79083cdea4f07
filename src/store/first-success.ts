/**
 * The commonest life of a delivery: handed over as it was accepted, delivered at the first try, never looked at again. Its
 * one attempt is kept in the delivery's own row, which is written then anyway: a row of its own would be one more to write,
 * and in two more indexes.
 *
 * Such an attempt has the delivery's id but for the prefix (`twinId`), and the delivery never waited (`due_at` is NULL).
 * So lists of attempts are two lists in the same order, merged: rows of `attempts`, and deliveries that never waited.
 * A delivery that is sent again gives its attempt a row first (docs/decisions/0010-first-successes.md).
 */
import { twinId } from '../ids.ts';
import type { Attempt } from '../model/index.ts';
import type { AttemptFilter, Page, PageInput } from './queries.ts';
import type { RecordItem } from './recording.ts';
import type { DeliveryRow } from './rows.ts';
import type { Where } from './where.ts';

/**
 * URL and answer together. The longer it is, the more seldom a page of PostgreSQL has room for it beside the first version of
 * its row (fillfactor 35), and where there is none, a delivery is written into four indexes anew.
 */
const MOST_CHARS = 160;

/** Being a delivery that holds its attempt. By `due_at` too, as its index is. */
export const HOLDS_ATTEMPT = 'due_at IS NULL AND success_url IS NOT NULL';

export function isFirstSuccess({ attempt, scheduleAttempts, firstAttemptAt }: RecordItem): boolean {
  return (
    attempt.decision.kind === 'delivered' &&
    attempt.number === 1 &&
    attempt.error === undefined &&
    scheduleAttempts === 1 &&
    firstAttemptAt === attempt.startedAt &&
    attempt.url.length + attempt.response.length <= MOST_CHARS &&
    attempt.trigger === 'scheduled' &&
    attempt.id === twinId('atmpt', attempt.deliveryId)
  );
}

export interface FirstSuccessRow extends DeliveryRow {
  success_url: string;
  success_status: number;
  success_ms: number;
  success_response: string;
  /** 0 or 1 in a database that has no other way to say it. */
  success_truncated: boolean | number;
}

export function toFirstSuccess(row: FirstSuccessRow): Attempt {
  return {
    id: twinId('atmpt', row.id),
    deliveryId: row.id,
    messageId: row.message_id,
    applicationId: row.application_id,
    destinationId: row.destination_id,
    eventType: row.event_type,
    number: 1,
    trigger: 'scheduled',
    url: row.success_url,
    startedAt: row.first_attempt_at ?? row.created_at,
    durationMs: row.success_ms,
    status: row.success_status,
    response: row.success_response,
    responseTruncated: Boolean(row.success_truncated),
    decision: { kind: 'delivered', reason: row.reason },
  };
}

/** As rows of `attempts`, for what is about to be sent again; `succeeded` and `decision` are the database's to say. */
export const AS_ATTEMPT_COLUMNS = `id, message_id, delivery_id, application_id, destination_id, event_type, number,
  trigger_kind, url, started_at, duration_ms, status, response, response_truncated, succeeded, decision`;
export const AS_ATTEMPT = `'atmpt_' || substr(id, 5), message_id, id, application_id, destination_id, event_type, 1,
  'scheduled', success_url, first_attempt_at, success_ms, success_status, success_response, success_truncated`;
export const NO_SUCCESS = `success_url = NULL, success_status = NULL, success_ms = NULL, success_response = NULL,
  success_truncated = NULL`;

/** The part of a list of attempts that deliveries hold, given the page of the others; undefined where there is none. */
export function firstSuccesses<V>(
  where: Where<V>,
  filter: AttemptFilter & PageInput,
  others: Page<Attempt>,
): { where: Where<V>; page: PageInput } | undefined {
  if (filter.outcome === 'failure' || filter.error !== undefined) return undefined;
  where
    .and(HOLDS_ATTEMPT)
    .andEqual('message_id', filter.messageId)
    .andEqual('destination_id', filter.destinationId)
    .andEqual('application_id', filter.applicationId)
    .andEqual('id', filter.deliveryId)
    .andIn('event_type', filter.eventTypes)
    .andBetween('first_attempt_at', filter.after, filter.before);
  if (filter.statusClass !== undefined) where.and('success_status / 100 = ?', Math.floor(filter.statusClass / 100));
  const { limit, order, cursor } = filter;
  // Beyond the last of a full page nothing is wanted: without this end all that never waited would be walked through.
  const isBackward = cursor?.direction === 'backward';
  const last = others.done ? undefined : others.items.at(isBackward ? 0 : -1);
  const rises = (order === 'ascending') !== isBackward;
  if (last !== undefined) where.and(`id ${rises ? '<' : '>'} ?`, twinId('dlv', last.id));
  if (cursor === undefined) return { where, page: { limit, order } };
  return { where, page: { limit, order, cursor: { ...cursor, key: twinId('dlv', cursor.key) } } };
}
