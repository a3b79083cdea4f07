/**
 * Groups of dead letters, found by jumping from one range of deliveries_dead_groups to the next: what is read is the
 * groups looked at and at most `most` entries of each, never all that is dead.
 */

import { type DeliveryRow, toDelivery } from '../rows.ts';
import type { DeadLetterGroup, GroupInput, GroupKey, GroupPage } from '../store.ts';
import type { Db, SqlValue } from './driver.ts';

const KEY = 'application_id, event_type, fingerprint';
// Named, because without statistics SQLite may take the index by application and read all that was ever delivered.
const DEAD = "deliveries INDEXED BY deliveries_dead_groups WHERE state = 'dead'";
const NEXT_OF_ANY = `SELECT ${KEY} FROM ${DEAD} AND (${KEY}) > (?, ?, ?) ORDER BY ${KEY} LIMIT 1`;
const NEXT_OF_OWNER = `
  SELECT ${KEY} FROM ${DEAD} AND application_id = ? AND (event_type, fingerprint) > (?, ?)
  ORDER BY event_type, fingerprint LIMIT 1`;
const IN_GROUP = `
  FROM ${DEAD} AND application_id = ? AND event_type = ? AND fingerprint = ? AND dead_at > ? AND dead_at < ?`;
const COUNT = `SELECT count(*) AS count FROM (SELECT 1 ${IN_GROUP} LIMIT ?)`;
const FIRST = `SELECT dead_at ${IN_GROUP} ORDER BY dead_at, id LIMIT 1`;
const LAST = `SELECT * ${IN_GROUP} ORDER BY dead_at DESC, id DESC LIMIT 1`;

interface KeyRow {
  application_id: string;
  event_type: string;
  fingerprint: string;
}

export function listGroups(db: Db, input: GroupInput): GroupPage {
  const groups: DeadLetterGroup[] = [];
  let at = input.after;
  for (let looked = 0; looked < input.limit; looked++) {
    const key = nextKey(db, input.applicationId, at);
    if (key === undefined) return { groups };
    const group = readGroup(db, key, input);
    if (group !== undefined) groups.push(group);
    at = key;
  }
  return at === undefined || nextKey(db, input.applicationId, at) === undefined ? { groups } : { groups, next: at };
}

function nextKey(db: Db, ownerId: string | undefined, after: GroupKey | undefined): GroupKey | undefined {
  const { applicationId = '', eventType = '', fingerprint = '' } = after ?? {};
  const row =
    ownerId === undefined
      ? db.get<KeyRow>(NEXT_OF_ANY, applicationId, eventType, fingerprint)
      : db.get<KeyRow>(NEXT_OF_OWNER, ownerId, eventType, fingerprint);
  return row && { applicationId: row.application_id, eventType: row.event_type, fingerprint: row.fingerprint };
}

function readGroup(db: Db, key: GroupKey, input: GroupInput): DeadLetterGroup | undefined {
  const { diedAfter = -1, diedBefore = Number.MAX_SAFE_INTEGER } = input;
  const params: SqlValue[] = [key.applicationId, key.eventType, key.fingerprint, diedAfter, diedBefore];
  const last = db.get<DeliveryRow>(LAST, ...params);
  if (last === undefined) return undefined;
  const lastAt = last.dead_at ?? 0;
  return {
    ...key,
    count: db.get<{ count: number }>(COUNT, ...params, input.most)?.count ?? 0,
    firstAt: db.get<{ dead_at: number }>(FIRST, ...params)?.dead_at ?? lastAt,
    lastAt,
    example: toDelivery(last),
  };
}
