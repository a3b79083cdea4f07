/** Whom messages and endpoints belong to: an application, or a source. Its id says which. */
import type { Db } from './driver.ts';

const REVISION = {
  applications: 'SELECT fanout_revision FROM applications WHERE id = ?',
  sources: 'SELECT fanout_revision FROM sources WHERE id = ?',
};
const CHANGE = {
  applications: 'UPDATE applications SET fanout_revision = fanout_revision + 1 WHERE id = ?',
  sources: 'UPDATE sources SET fanout_revision = fanout_revision + 1 WHERE id = ?',
};

/** Undefined when there is no such owner. */
export function fanoutRevision(db: Db, ownerId: string): number | undefined {
  return db.get<{ fanout_revision: number }>(REVISION[tableOf(ownerId)], ownerId)?.fanout_revision;
}

export function changeFanout(db: Db, ownerId: string): void {
  db.run(CHANGE[tableOf(ownerId)], ownerId);
}

function tableOf(ownerId: string): 'applications' | 'sources' {
  return ownerId.startsWith('src_') ? 'sources' : 'applications';
}
