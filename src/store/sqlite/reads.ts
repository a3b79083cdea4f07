/** getMessage, listMessages, getDelivery, listDeliveries, getAttempt, listAttempts, counts. */

import { twinId } from '../../ids.ts';
import type { Attempt, Delivery, Message } from '../../model/index.ts';
import { attemptFilter, deliveryFilters, mergePages, messageFilter } from '../filters.ts';
import { type FirstSuccessRow, firstSuccesses, HOLDS_ATTEMPT, toFirstSuccess } from '../first-success.ts';
import {
  type AttemptRow,
  type CountsRow,
  type DeliveryRow,
  type MessageRow,
  toAttempt,
  toCounts,
  toDelivery,
  toMessage,
} from '../rows.ts';
import type { AttemptFilter, Counts, DeliveryFilter, MessageFilter, Page, PageInput } from '../store.ts';
import { anywhere, IS_CLAIMED, IS_HANDED, page } from './dialect.ts';
import type { Db } from './driver.ts';

const MESSAGE = 'SELECT * FROM messages WHERE application_id = ? AND id = ?';
const MESSAGE_BY_EVENT_ID = 'SELECT * FROM messages WHERE application_id = ? AND event_id = ?';
const DELIVERY = 'SELECT * FROM deliveries WHERE id = ?';
const ATTEMPT = 'SELECT * FROM attempts WHERE message_id = ? AND id = ?';
const FIRST_SUCCESS = `SELECT * FROM deliveries WHERE id = ? AND message_id = ? AND ${HOLDS_ATTEMPT}`;
const count = (condition: string) => `(SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE ${condition} LIMIT ?1))`;
const overdue = (condition = '1') => `(SELECT count(*) FROM (
    SELECT 1 FROM lanes l JOIN deliveries d ON d.destination_id = l.destination_id
    WHERE l.due_at < ?2 AND l.parked_by IS NULL AND ${condition} AND d.state = 'pending' AND d.due_at < ?2 LIMIT ?1))`;
// Lanes know the earliest due time without a look at the backlog: those that wait, and those in a node's hands.
const COUNTS = `SELECT ${count("state = 'pending'")} AS pending, ${count("state = 'held'")} AS held,
  ${count("state = 'dead'")} AS dead, ${count("state = 'pending' AND attempts > 0")} AS retrying,
  min(?1, ${count(IS_CLAIMED)} + ${count(IS_HANDED)}) AS leased,
  ${overdue()} AS overdue, ${overdue("l.destination_id GLOB 'hdl_*'")} AS untaken,
  (SELECT min(due_at) FROM lanes WHERE due_at IS NOT NULL AND parked_by IS NULL) AS waiting,
  (SELECT min(due_at) FROM lanes WHERE parked_by IS NOT NULL) AS parked`;

/** By id, or by the publisher's own event id. */
export function getMessage(db: Db, input: { applicationId: string; id: string }): Message | undefined {
  const row =
    db.get<MessageRow>(MESSAGE, input.applicationId, input.id) ??
    db.get<MessageRow>(MESSAGE_BY_EVENT_ID, input.applicationId, input.id);
  return row && toMessage(row);
}

export function listMessages(db: Db, input: MessageFilter & PageInput): Page<Message> {
  const where = messageFilter(anywhere(), input);
  return page(db, { table: 'messages', key: 'id', where, page: input }, toMessage);
}

export function getDelivery(db: Db, input: { id: string }): Delivery | undefined {
  const row = db.get<DeliveryRow>(DELIVERY, input.id);
  return row && toDelivery(row);
}

export function listDeliveries(db: Db, input: DeliveryFilter & PageInput): Page<Delivery> {
  const pages = deliveryFilters(anywhere, input).map((where) =>
    page(db, { table: 'deliveries', key: 'id', where, page: input }, toDelivery),
  );
  return mergePages(pages, input);
}

export function getAttempt(db: Db, input: { messageId: string; id: string }): Attempt | undefined {
  const row = db.get<AttemptRow>(ATTEMPT, input.messageId, input.id);
  if (row !== undefined) return toAttempt(row);
  if (!input.id.startsWith('atmpt_')) return undefined;
  const first = db.get<FirstSuccessRow>(FIRST_SUCCESS, twinId('dlv', input.id), input.messageId);
  return first && toFirstSuccess(first);
}

export function listAttempts(db: Db, input: AttemptFilter & PageInput): Page<Attempt> {
  const where = attemptFilter(anywhere(), input);
  const others = page(db, { table: 'attempts', key: 'id', where, page: input }, toAttempt);
  const firsts = firstSuccesses(anywhere(), input, others);
  if (firsts === undefined) return others;
  return mergePages([others, page(db, { table: 'deliveries', key: 'id', ...firsts }, toFirstSuccess)], input);
}

export function counts(db: Db, input: { most: number; untakenBefore?: number }): Counts {
  const row = db.get<CountsRow>(COUNTS, input.most, input.untakenBefore ?? 0) ?? {};
  return toCounts(row);
}
