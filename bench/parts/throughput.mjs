import { race } from '../race.mjs';

const CONTESTANTS = [
  { name: 'limit', title: 'limit: undici, no storage' },
  { name: 'posthorn-library', title: 'Posthorn, library' },
  { name: 'posthorn-api', title: 'Posthorn, HTTP API', throughApi: true },
  { name: 'bullmq-axios', title: 'BullMQ + axios', appendfsync: 'everysec' },
  { name: 'bullmq-undici', title: 'BullMQ + undici', appendfsync: 'everysec' },
];

const TARGETS = [
  { of: 'posthorn-library', to: 'limit', atLeast: 0.5, label: 'library ≥ 0.5 × limit' },
  { of: 'posthorn-library', to: 'bullmq-axios', atLeast: 4, label: 'library ≥ 4 × BullMQ + axios' },
  { of: 'posthorn-library', to: 'bullmq-undici', atLeast: 1.8, label: 'library ≥ 1.8 × BullMQ + undici' },
  { of: 'posthorn-api', to: 'bullmq-axios', atLeast: 2, label: 'HTTP API ≥ 2 × BullMQ + axios' },
];

const COLUMNS = [
  { to: 'limit', head: 'to the limit' },
  { to: 'bullmq-axios', head: 'to BullMQ + axios' },
  { to: 'bullmq-undici', head: 'to BullMQ + undici' },
];

/** On one machine, with what is embedded: SQLite. */
export function throughput(bench) {
  return race(bench, CONTESTANTS, TARGETS, COLUMNS);
}
