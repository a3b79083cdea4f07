/**
 * Groups of dead letters, found by jumping from one range of deliveries_dead_groups to the next: what is read is the
 * groups looked at and at most `most` entries of each, never all that is dead.
 */

import { type DeliveryRow, toDelivery } from '../rows.ts';
import type { DeadLetterGroup, GroupInput, GroupKey, GroupPage } from '../store.ts';
import { limitOf } from './dialect.ts';
import { type Db, statement } from './driver.ts';

const KEY = 'application_id, event_type, fingerprint';
const DEAD = 'deliveries WHERE dead_cause IS NOT NULL';
const NEXT_OF_ANY = statement(
  'next_group',
  `SELECT ${KEY} FROM ${DEAD} AND (${KEY}) > ($1, $2, $3) ORDER BY ${KEY} LIMIT 1`,
);
const NEXT_OF_OWNER = statement(
  'next_group_of',
  `SELECT ${KEY} FROM ${DEAD} AND application_id = $1 AND (event_type, fingerprint) > ($2, $3)
  ORDER BY event_type, fingerprint LIMIT 1`,
);
const IN_GROUP = `FROM ${DEAD} AND application_id = $1 AND event_type = $2 AND fingerprint = $3 AND dead_at > $4 AND dead_at < $5`;
const FIRST = statement('first_of_group', `SELECT dead_at ${IN_GROUP} ORDER BY dead_at, id LIMIT 1`);
const LAST = statement('last_of_group', `SELECT * ${IN_GROUP} ORDER BY dead_at DESC, id DESC LIMIT 1`);

interface KeyRow {
  application_id: string;
  event_type: string;
  fingerprint: string;
}

export async function listGroups(db: Db, input: GroupInput): Promise<GroupPage> {
  const groups: DeadLetterGroup[] = [];
  let at = input.after;
  for (let looked = 0; looked < input.limit; looked++) {
    const key = await nextKey(db, input.applicationId, at);
    if (key === undefined) return { groups };
    const group = await readGroup(db, key, input);
    if (group !== undefined) groups.push(group);
    at = key;
  }
  if (at === undefined || (await nextKey(db, input.applicationId, at)) === undefined) return { groups };
  return { groups, next: at };
}

async function nextKey(
  db: Db,
  ownerId: string | undefined,
  after: GroupKey | undefined,
): Promise<GroupKey | undefined> {
  const { applicationId = '', eventType = '', fingerprint = '' } = after ?? {};
  const [row] = await (ownerId === undefined
    ? db.all<KeyRow>(NEXT_OF_ANY, applicationId, eventType, fingerprint)
    : db.all<KeyRow>(NEXT_OF_OWNER, ownerId, eventType, fingerprint));
  return row && { applicationId: row.application_id, eventType: row.event_type, fingerprint: row.fingerprint };
}

async function readGroup(db: Db, key: GroupKey, input: GroupInput): Promise<DeadLetterGroup | undefined> {
  const { diedAfter = -1, diedBefore = Number.MAX_SAFE_INTEGER } = input;
  const params = [key.applicationId, key.eventType, key.fingerprint, diedAfter, diedBefore] as const;
  const count = { text: `SELECT count(*) AS count FROM (SELECT 1 ${IN_GROUP} ${limitOf(input.most)}) g` };
  const [[last], [first], [counted]] = await Promise.all([
    db.all<DeliveryRow>(LAST, ...params),
    db.all<{ dead_at: number }>(FIRST, ...params),
    db.all<{ count: number }>(count, ...params),
  ]);
  if (last === undefined) return undefined;
  const lastAt = last.dead_at ?? 0;
  return { ...key, count: counted?.count ?? 0, firstAt: first?.dead_at ?? lastAt, lastAt, example: toDelivery(last) };
}
