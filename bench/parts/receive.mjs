import { race } from '../race.mjs';

const CONTESTANTS = [
  { name: 'limit', title: 'limit: Fastify, verifies only', file: 'receive-limit', receives: true },
  { name: 'posthorn-receive', title: 'Posthorn, POST /in/{source}', receives: true },
];

const TARGETS = [
  { of: 'posthorn-receive', to: 'limit', atLeast: 0.7, label: 'receiving, requests answered ≥ 0.7 × limit' },
];

/** Both from the first request on: to the last answer, and to the last event that is handled and recorded. */
const RATES = [
  { key: 'acceptedPerSecond', head: 'answered/s' },
  { key: 'perSecond', head: 'handled/s' },
];

export function receive(bench) {
  return race(bench, CONTESTANTS, TARGETS, [{ to: 'limit', head: 'to the limit' }], RATES);
}
