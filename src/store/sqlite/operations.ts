/** The port's operations as functions over a database: what a runner executes, each inside its transaction. */
import type { Store } from '../store.ts';
import { accept } from './accept.ts';

import { claim } from './claim.ts';
import type { Db } from './driver.ts';
import { lease } from './lease.ts';
import { listGroups } from './list-groups.ts';
import { maintain } from './maintain.ts';
import { heartbeat, join, leave } from './nodes.ts';
import { purge } from './purge.ts';
import { counts, getAttempt, getDelivery, getMessage, listAttempts, listDeliveries, listMessages } from './reads.ts';
import { record } from './record.ts';
import { get, insert, list, remove, update } from './records.ts';
import { release } from './release.ts';
import { forget, keepAnswer, recall } from './remembered.ts';
import { restore } from './restore.ts';
import { addDelivery, discard, redeliver } from './selection.ts';
import { setStatus } from './set-status.ts';
import { sweep } from './sweep.ts';
import { takeOver } from './take-over.ts';

export type OperationName = Exclude<
  keyof Store,
  'close' | 'watch' | 'relay' | 'soleProcess' | 'batchesAtOnce' | 'transact'
>;

type Operations = {
  readonly [N in OperationName]: (db: Db, input: Parameters<Store[N]>[0]) => Awaited<ReturnType<Store[N]>>;
};

const writes = {
  join,
  heartbeat,
  leave,
  takeOver,
  accept,
  claim,
  lease,
  record,
  release,
  setStatus,
  sweep,
  redeliver,
  addDelivery,
  discard,
  restore,
  purge,
  insert,
  update,
  remove,
  keepAnswer,
  forget,
  maintain,
};

const reads = {
  get,
  list,
  getMessage,
  listMessages,
  getDelivery,
  listDeliveries,
  listGroups,
  getAttempt,
  listAttempts,
  recall,
  counts,
};

export const operations = { ...writes, ...reads } as unknown as Operations;

export function isWrite(name: OperationName): boolean {
  return name in writes;
}
