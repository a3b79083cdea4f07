import { PosthornError } from '../errors.ts';
import type { RecordKind, RecordTypes, Store, Stored } from '../store/index.ts';
import { missing, taken } from './missing.ts';

/** So many writers at one record at once are a client's bug; giving up keeps it from becoming an endless loop. */
const MOST_TRIES = 8;

/** Reads a record, changes it and writes it back; again from the reading when somebody else wrote in between. */
export async function revise<K extends RecordKind>(
  store: Store,
  work: {
    readonly kind: K;
    readonly what: string;
    readonly find: () => Promise<Stored<K>>;
    readonly change: (stored: Stored<K>) => RecordTypes[K] | Promise<RecordTypes[K]>;
  },
): Promise<Stored<K>> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const stored = await work.find();
    const record = await work.change(stored);
    const result = await store.update({ kind: work.kind, record, revision: stored.revision });
    if (result === 'updated') return { ...stored, record, revision: stored.revision + 1 };
    if (result === 'conflict') throw taken(`A ${work.what} with uid`, uidOf(record));
    if (result === 'missing') throw missing(work.what, record.id);
  }
  throw new PosthornError('conflict', `The ${work.what} is being changed by others at the same time; try again`);
}

function uidOf(record: object): string {
  return 'uid' in record ? String(record.uid) : '';
}
