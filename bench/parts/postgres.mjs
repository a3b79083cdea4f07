import { race } from '../race.mjs';

/** What users of each library write, and the best that they could write: undici, bulk inserts, batched completes. */
const CONTESTANTS = [
  { name: 'limit', title: 'limit: undici, no storage' },
  { name: 'posthorn-postgres', title: 'Posthorn on PostgreSQL', file: 'posthorn-library', postgres: true },
  { name: 'outbox-undici', title: 'outbox by hand + undici, bulk', postgres: true },
  { name: 'graphile-worker-undici', title: 'graphile-worker + undici, bulk', postgres: true },
  { name: 'pg-boss-undici', title: 'pg-boss + undici, bulk', postgres: true },
  { name: 'bullmq-undici-bulk', title: 'BullMQ + undici, bulk', appendfsync: 'everysec' },
  {
    name: 'posthorn-bullmq',
    title: 'Posthorn, dispatch by BullMQ',
    file: 'posthorn-library',
    postgres: true,
    dispatch: 'bullmq',
    appendfsync: 'everysec',
  },
  { name: 'bullmq-axios', title: 'BullMQ + axios', appendfsync: 'everysec' },
  { name: 'pg-boss-axios', title: 'pg-boss + axios', postgres: true },
  { name: 'graphile-worker-axios', title: 'graphile-worker + axios', postgres: true },
];

const BEST_FORMS = ['bullmq-undici-bulk', 'graphile-worker-undici', 'pg-boss-undici', 'outbox-undici'];

const OURS = 'posthorn-postgres';
const TARGETS = [
  { of: OURS, to: 'limit', atLeast: 0.35, label: 'PostgreSQL ≥ 0.35 × limit' },
  { of: OURS, to: 'bullmq-axios', atLeast: 2.5, label: 'PostgreSQL ≥ 2.5 × BullMQ + axios' },
  { of: OURS, to: 'graphile-worker-axios', atLeast: 4, label: 'PostgreSQL ≥ 4 × graphile-worker + axios' },
  { of: OURS, to: 'pg-boss-axios', atLeast: 2.5, label: 'PostgreSQL ≥ 2.5 × pg-boss + axios' },
  { of: OURS, to: BEST_FORMS, atLeast: 1.3, label: 'PostgreSQL ≥ 1.3 × the best form with undici and bulk inserts' },
  { of: 'posthorn-bullmq', to: 'bullmq-axios', atLeast: 1, label: 'dispatch by BullMQ ≥ 1 × BullMQ + axios' },
];

const COLUMNS = [
  { to: 'limit', head: 'to the limit' },
  { to: 'bullmq-axios', head: 'to BullMQ + axios' },
  { to: 'outbox-undici', head: 'to the outbox by hand' },
];

/** For many machines: PostgreSQL, and BullMQ in front of it. */
export function postgres(bench) {
  return race(bench, CONTESTANTS, TARGETS, COLUMNS);
}
