/** The port's operations as functions over a database, each one transaction. */
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
import { relay } from './relay.ts';
import { release } from './release.ts';
import { forget, keepAnswer, recall } from './remembered.ts';
import { restore } from './restore.ts';
import { addDelivery, discard, redeliver } from './selection.ts';
import { setStatus } from './set-status.ts';
import { sweep } from './sweep.ts';
import { takeOver } from './take-over.ts';

export type OperationName = Exclude<keyof Store, 'close' | 'watch' | 'soleProcess' | 'batchesAtOnce' | 'transact'>;

type Operation<N extends OperationName> = (db: Db, input: Parameters<Store[N]>[0]) => ReturnType<Store[N]>;

export const operations: { readonly [N in OperationName]: Operation<N> } = {
  join,
  heartbeat,
  leave,
  takeOver,
  accept,
  relay,
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
  insert: insert as Operation<'insert'>,
  get: get as Operation<'get'>,
  list: list as Operation<'list'>,
  update: update as Operation<'update'>,
  remove,
  getMessage,
  listMessages,
  getDelivery,
  listDeliveries,
  listGroups,
  getAttempt,
  listAttempts,
  recall,
  keepAnswer,
  forget,
  maintain,
  counts,
};
