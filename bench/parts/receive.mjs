import { race } from '../race.mjs';

const CONTESTANTS = [
  { name: 'limit', title: 'limit: Fastify, verifies only', file: 'receive-limit', receives: true },
  { name: 'posthorn-receive', title: 'Posthorn, POST /in/{source}', receives: true },
];

const TARGETS = [{ of: 'posthorn-receive', to: 'limit', atLeast: 0.7, label: 'receiving ≥ 0.7 × limit' }];

/** From the first request to the last event that is handled and recorded. */
export function receive(bench) {
  return race(bench, CONTESTANTS, TARGETS, [{ to: 'limit', head: 'to the limit' }]);
}
