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
import { anywhere, isIn, limitOf, page } from './dialect.ts';
import { type Db, statement } from './driver.ts';

const MESSAGE = statement('get_message', 'SELECT * FROM messages WHERE id = $2 AND application_id = $1');
const MESSAGE_BY_EVENT_ID = statement(
  'get_message_by_event_id',
  `SELECT m.* FROM event_ids e JOIN messages m ON m.id = e.message_id WHERE e.application_id = $1 AND e.event_id = $2`,
);
const DELIVERY = statement('get_delivery', 'SELECT * FROM deliveries WHERE id = $1');
const ATTEMPT = statement('get_attempt', 'SELECT * FROM attempts WHERE message_id = $1 AND id = $2');
const FIRST_SUCCESS = statement(
  'get_first_success',
  `SELECT * FROM deliveries WHERE id = $1 AND message_id = $2 AND ${HOLDS_ATTEMPT}`,
);
// What was handed over is in no index by state; no node has any of it from before the first one's mark.
const IS_HANDED = "id >= (SELECT min(handed_from) FROM nodes) AND due_at IS NULL AND state = 'leased'";
const count = (condition: string, most: number) =>
  `(SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE ${condition} ${limitOf(most)}) s)`;

const overdue = (condition: string, most: number) =>
  `(SELECT count(*) FROM (SELECT 1 FROM lanes l JOIN deliveries d ON d.destination_id = l.destination_id
    WHERE l.due_at < $1 AND l.parked_by IS NULL AND ${condition} AND d.queued_at < $1 ${limitOf(most)}) s)`;

/** By id, or by the publisher's own event id. */
export async function getMessage(db: Db, input: { applicationId: string; id: string }): Promise<Message | undefined> {
  const [byId] = await db.all<MessageRow>(MESSAGE, input.applicationId, input.id);
  const [row = byId] = byId ? [] : await db.all<MessageRow>(MESSAGE_BY_EVENT_ID, input.applicationId, input.id);
  return row && toMessage(row);
}

export function listMessages(db: Db, input: MessageFilter & PageInput): Promise<Page<Message>> {
  return page(db, { table: 'messages', key: 'id', where: messageFilter(anywhere(), input), page: input }, toMessage);
}

export async function getDelivery(db: Db, input: { id: string }): Promise<Delivery | undefined> {
  const [row] = await db.all<DeliveryRow>(DELIVERY, input.id);
  return row && toDelivery(row);
}

export function listDeliveries(db: Db, input: DeliveryFilter & PageInput): Promise<Page<Delivery>> {
  return db.snapshot(async (tx) => {
    const pages = await Promise.all(
      deliveryFilters(anywhere, input).map((where) =>
        page(tx, { table: 'deliveries', key: 'id', where, page: input }, toDelivery),
      ),
    );
    return mergePages(pages, input);
  });
}

export async function getAttempt(db: Db, input: { messageId: string; id: string }): Promise<Attempt | undefined> {
  // It goes from its delivery to a row of its own, never back: in this order it is found wherever it is.
  const id = input.id.startsWith('atmpt_') ? twinId('dlv', input.id) : '';
  const [first] = await db.all<FirstSuccessRow>(FIRST_SUCCESS, id, input.messageId);
  if (first !== undefined) return toFirstSuccess(first);
  const [row] = await db.all<AttemptRow>(ATTEMPT, input.messageId, input.id);
  return row && toAttempt(row);
}

export function listAttempts(db: Db, input: AttemptFilter & PageInput): Promise<Page<Attempt>> {
  return db.snapshot(async (tx) => {
    const where = attemptFilter(anywhere(), input);
    const others = await page(tx, { table: 'attempts', key: 'id', where, page: input }, toAttempt);
    const firsts = firstSuccesses(anywhere(), input, others);
    if (firsts === undefined) return others;
    const kept = await page(tx, { table: 'deliveries', key: 'id', ...firsts }, toFirstSuccess);
    return mergePages([others, kept], input);
  });
}

export async function counts(db: Db, input: { most: number; untakenBefore?: number }): Promise<Counts> {
  const { most } = input;
  // Lanes know the earliest due time without a look at the backlog: those that wait, and those in a node's hands.
  const text = `SELECT ${count(isIn('pending'), most)} AS pending, ${count(isIn('held'), most)} AS held,
      ${count(isIn('dead'), most)} AS dead, ${count('retry_at IS NOT NULL', most)} AS retrying,
      least(${most}, ${count('claimed_by IS NOT NULL', most)} + ${count(IS_HANDED, most)}) AS leased,
      ${overdue('true', most)} AS overdue, ${overdue("left(l.destination_id, 4) = 'hdl_'", most)} AS untaken,
      (SELECT min(due_at) FROM lanes WHERE due_at IS NOT NULL AND parked_by IS NULL) AS waiting,
      (SELECT min(due_at) FROM lanes WHERE parked_by IS NOT NULL) AS parked`;
  const [row = {}] = await db.all<CountsRow>({ text }, input.untakenBefore ?? 0);
  return toCounts(row);
}
