// A store that is small and one that is great, and what a claim costs on each.
import { count, milliseconds, table } from './report.mjs';
import { withContestantIn } from './runs.mjs';
import { median, percentile } from './statistics.mjs';

export const FEW = 10_000;
/** In turns of a few, so that a slow moment of the disk hits both stores. */
const CLAIMS_PER_TURN = 15;
const TURNS = 12;
const STEP = 100_000;
const RATE_PER_SECOND = 50;
const FILL_TIMEOUT_MS = 1_800_000;

/** Fills both stores and times claims on them; `where` says how each is opened. */
export async function measureClaims(bench, where, pending) {
  const { say } = bench;
  const few = await openStore(bench, where.few);
  const many = await openStore(bench, where.many);
  await few.call('fill', { total: FEW });
  for (let total = 0; total < pending; ) {
    total = Math.min(total + STEP, pending);
    await many.call('fill', { total }, FILL_TIMEOUT_MS);
    say(`${count(total)} pending`);
  }
  const claims = await timeClaims(few, many);
  const { peakRssBytes: fillPeakRssBytes } = await many.call('usage');
  for (const store of [few, many]) {
    await store.call('close');
    await store.stop();
  }
  return { ...claims, fillPeakRssBytes };
}

/** Posthorn on such a store, whose endpoints never answer, with a healthy endpoint beside them. */
export async function measureWork(bench, contestant, folder, given) {
  const { seconds } = bench.options;
  return withContestantIn(
    folder,
    bench,
    contestant,
    async (run) => {
      const { latenciesMs } = await run.latencies(RATE_PER_SECOND, seconds);
      const held = await run.held();
      const { peakRssBytes } = await run.usage();
      return { peakRssBytes, held, p50Ms: percentile(latenciesMs, 0.5), p99Ms: percentile(latenciesMs, 0.99) };
    },
    given,
  );
}

export function showClaims({ print }, { pending, few, many }) {
  const row = (size, { p50Ms, p99Ms, leasedPerClaim }) => [
    count(size),
    milliseconds(p50Ms),
    milliseconds(p99Ms),
    leasedPerClaim.toFixed(0),
  ];
  print(table(['pending', 'claim p50', 'claim p99', 'leased by a claim'], [row(FEW, few), row(pending, many)]));
}

export function judgeClaims({ pending, few, many }, where = '') {
  const factor = many.p50Ms / few.p50Ms;
  return {
    label: `claim at ${count(pending)} ≤ 2 × at ${count(FEW)}${where}`,
    met: factor <= 2,
    measured: `${factor.toFixed(2)} (${milliseconds(many.p50Ms)} and ${milliseconds(few.p50Ms)})`,
  };
}

async function openStore({ processes, sink, options }, how) {
  const store = processes.fork('./backlog-store.mjs', 'backlog');
  await store.call('open', { dist: options.dist, ...how });
  await store.call('createEndpoints', sink.urls);
  return store;
}

async function timeClaims(few, many) {
  const turns = { few: [], many: [] };
  // The first turn warms up and counts for nothing.
  for (let turn = 0; turn <= TURNS; turn++) {
    const ofFew = await few.call('claim', { claims: CLAIMS_PER_TURN });
    const ofMany = await many.call('claim', { claims: CLAIMS_PER_TURN });
    if (turn === 0) continue;
    turns.few.push(ofFew);
    turns.many.push(ofMany);
  }
  return { few: summary(turns.few), many: summary(turns.many) };
}

function summary(turns) {
  const timesMs = turns.flatMap((turn) => turn.timesMs);
  const leased = turns.reduce((sum, turn) => sum + turn.leased, 0);
  return {
    p50Ms: median(timesMs),
    p99Ms: percentile(timesMs, 0.99),
    leasedPerClaim: leased / timesMs.length,
  };
}
