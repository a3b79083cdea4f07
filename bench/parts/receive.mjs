import { race } from '../race.mjs';

const CONTESTANTS = [
  { name: 'limit', title: 'limit: Fastify, verifies only', file: 'receive-limit', receives: true },
  { name: 'posthorn-receive', title: 'Posthorn, POST /in/{source}', receives: true },
  {
    name: 'posthorn-keep',
    title: 'Posthorn, without a handler',
    file: 'posthorn-receive',
    keeps: true,
    receives: true,
  },
  { name: 'receive-stripe', title: "Fastify, Stripe's own package", receives: true },
];

/** Receiving ends with the answer. What a handler of the same process takes beside it is shown and judged for itself. */
const TARGETS = [
  { of: 'posthorn-keep', to: 'limit', atLeast: 0.7, label: 'receiving: verified, committed, answered ≥ 0.7 × limit' },
  { of: 'posthorn-receive', to: 'limit', atLeast: 0.7, label: 'the same, and handled beside it ≥ 0.7 × limit' },
];

/** Both from the first request on: to the last answer, and to the last event that is handled and recorded. */
const RATES = [
  { key: 'acceptedPerSecond', head: 'answered/s' },
  { key: 'perSecond', head: 'handled/s' },
];

export function receive(bench) {
  const columns = [
    { to: 'limit', head: 'to the limit' },
    { to: 'receive-stripe', head: "to Stripe's package" },
  ];
  return race(bench, CONTESTANTS, TARGETS, columns, RATES);
}
