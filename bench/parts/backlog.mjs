import { join } from 'node:path';
import { count, megabytes, milliseconds, table } from '../report.mjs';
import { withContestantIn } from '../runs.mjs';
import { median, percentile } from '../statistics.mjs';

const FEW = 10_000;
/** In turns of a few, so that a slow moment of the disk hits both stores. */
const CLAIMS_PER_TURN = 15;
const TURNS = 12;
const STEP = 100_000;
const RATE_PER_SECOND = 50;
const MAX_RSS_BYTES = 300e6;
const POSTHORN = { name: 'posthorn-library', title: 'Posthorn, library' };
const FILL_TIMEOUT_MS = 1_800_000;

/** A store that fills up because nobody answers: what a claim costs then, and how much memory the process takes. */
export async function backlog(bench) {
  const { processes, options, say } = bench;
  const folders = { few: processes.newFolder('few'), many: processes.newFolder('many') };
  try {
    const few = await openStore(bench, folders.few);
    const many = await openStore(bench, folders.many);
    await few.call('fill', { total: FEW });
    for (let total = 0; total < options.pending; ) {
      total = Math.min(total + STEP, options.pending);
      await many.call('fill', { total }, FILL_TIMEOUT_MS);
      say(`${count(total)} pending`);
    }
    const claims = await timeClaims(few, many);
    const { peakRssBytes: fillPeakRssBytes } = await many.call('usage');
    for (const store of [few, many]) {
      await store.call('close');
      await store.stop();
    }

    say(`working on ${count(options.pending)} pending for ${options.seconds} s, with a healthy endpoint beside them …`);
    const working = await withContestantIn(folders.many, bench, POSTHORN, (run) => work(run, options.seconds));
    const results = { pending: options.pending, ...claims, fillPeakRssBytes, working };
    show(bench, results);
    return { results, targets: judge(results) };
  } finally {
    for (const folder of Object.values(folders)) processes.removeFolder(folder);
  }
}

async function openStore({ processes, sink, options }, folder) {
  const store = processes.fork('./backlog-store.mjs', 'backlog');
  await store.call('open', { dist: options.dist, file: join(folder, 'posthorn.db') });
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

async function work(run, seconds) {
  const { latenciesMs } = await run.latencies(RATE_PER_SECOND, seconds);
  const held = await run.held();
  const { peakRssBytes } = await run.usage();
  return { peakRssBytes, held, p50Ms: percentile(latenciesMs, 0.5), p99Ms: percentile(latenciesMs, 0.99) };
}

function show({ print }, { pending, few, many, fillPeakRssBytes, working }) {
  const row = (size, { p50Ms, p99Ms, leasedPerClaim }) => [
    count(size),
    milliseconds(p50Ms),
    milliseconds(p99Ms),
    leasedPerClaim.toFixed(0),
  ];
  print(table(['pending', 'claim p50', 'claim p99', 'leased by a claim'], [row(FEW, few), row(pending, many)]));
  print(
    table(
      ['the process', 'peak RSS'],
      [
        ['that stored them', megabytes(fillPeakRssBytes)],
        [`that works on them (${working.held} in flight)`, megabytes(working.peakRssBytes)],
      ],
    ),
  );
  print(`healthy endpoint meanwhile: p50 ${milliseconds(working.p50Ms)}, p99 ${milliseconds(working.p99Ms)}`);
}

function judge({ pending, few, many, fillPeakRssBytes, working }) {
  const peakRssBytes = Math.max(working.peakRssBytes, fillPeakRssBytes);
  const factor = many.p50Ms / few.p50Ms;
  return [
    {
      label: `RSS at ${count(pending)} pending < 300 MB`,
      met: peakRssBytes < MAX_RSS_BYTES,
      measured: megabytes(peakRssBytes),
    },
    {
      label: `claim at ${count(pending)} ≤ 2 × at ${count(FEW)}`,
      met: factor <= 2,
      measured: `${factor.toFixed(2)} (${milliseconds(many.p50Ms)} and ${milliseconds(few.p50Ms)})`,
    },
  ];
}
