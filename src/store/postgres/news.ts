/** What goes over LISTEN/NOTIFY: who tells it, whether there is work, and whose endpoints changed. A few bytes. */
import type { News } from '../store.ts';
import { type Db, type Runner, statement } from './driver.ts';

const NOTIFY = statement('notify', 'SELECT pg_notify($1, $2)');
/** Beyond this a list is longer than reading every application anew is worth. */
const MOST_APPLICATIONS = 50;
const ALL = '*';

export interface Told {
  /** `unqueued`: nobody offers it to a queue. */
  readonly work?: boolean | 'unqueued';
  /** Whose endpoints changed; `all` where it can be anyone's. */
  readonly changed?: readonly string[] | 'all';
}

/** `teller` is the store that tells: it does not listen to itself. */
export function writeNews(teller: string, { work = false, changed = [] }: Told): string {
  const ids = changed === 'all' || changed.length > MOST_APPLICATIONS ? ALL : [...new Set(changed)].join(',');
  return `${teller} ${work === 'unqueued' ? work : work ? 'work' : '-'} ${ids}`;
}

export function readNews(payload: string, listener: string): News[] {
  const [teller, work, ids = ''] = payload.split(' ');
  if (teller === listener) return [];
  const news: News[] = [];
  if (work === 'work') news.push({ kind: 'work' });
  if (work === 'unqueued') news.push({ kind: 'work', unqueued: true });
  if (ids === ALL) return [...news, { kind: 'changed' }];
  return [
    ...news,
    ...ids
      .split(',')
      .filter(Boolean)
      .map((applicationId) => ({ kind: 'changed' as const, applicationId })),
  ];
}

export async function tell(db: Db, runner: Runner, told: Told): Promise<void> {
  await runner.all(NOTIFY, db.channel, writeNews(db.teller, told));
}
