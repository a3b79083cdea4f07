import { milliseconds, table } from '../report.mjs';
import { withContestant } from '../runs.mjs';
import { median, percentile } from '../statistics.mjs';

const RATE_PER_SECOND = 50;
const DEAD_EVENTS = 2000;
const POSTHORN = { name: 'posthorn-library', title: 'Posthorn, library' };

/** A healthy endpoint alone, and beside one that takes every request and answers none for the 30 s of its timeout. */
export async function neighbour(bench) {
  const { options, say, print } = bench;
  const rounds = [];
  for (let round = 1; round <= options.rounds; round++) {
    const results = {};
    for (const company of ['alone', 'besideDead']) {
      const result = await withContestant(bench, POSTHORN, (run) => measure(run, company, options.seconds));
      results[company] = result;
      const title = company === 'alone' ? 'alone' : `beside a dead one (holds ${result.held})`;
      const shown = `p50 ${milliseconds(result.p50Ms)}, p99 ${milliseconds(result.p99Ms)}`;
      say(`round ${round}/${options.rounds}  ${title.padEnd(32)} ${shown}`);
    }
    rounds.push(results);
  }
  const alone = mediansOf(rounds, 'alone');
  const besideDead = mediansOf(rounds, 'besideDead');
  const row = (title, { p50Ms, p99Ms, cpuPerSecondS }) => [
    title,
    milliseconds(p50Ms),
    milliseconds(p99Ms),
    `${(cpuPerSecondS * 100).toFixed(1)} %`,
  ];
  const head = [`healthy endpoint at ${RATE_PER_SECOND}/s`, 'p50', 'p99', 'CPU of the process'];
  print(table(head, [row('alone', alone), row('beside a dead one', besideDead)]));
  const factor = besideDead.p99Ms / alone.p99Ms;
  const target = {
    label: 'healthy p99 beside a dead endpoint ≤ 2 × alone',
    met: factor <= 2,
    measured: `${factor.toFixed(2)} (${milliseconds(besideDead.p99Ms)} and ${milliseconds(alone.p99Ms)})`,
  };
  return { results: { rounds, alone, besideDead }, targets: [target] };
}

function mediansOf(rounds, company) {
  const of = (key) => median(rounds.map((results) => results[company][key]));
  return { p50Ms: of('p50Ms'), p99Ms: of('p99Ms'), cpuPerSecondS: of('cpuPerSecondS') };
}

async function measure(run, company, seconds) {
  if (company === 'besideDead') await run.flood(DEAD_EVENTS);
  const before = await run.usage();
  const { latenciesMs } = await run.latencies(RATE_PER_SECOND, seconds);
  const after = await run.usage();
  const held = await run.held();
  if (company === 'besideDead' && held === 0) throw new Error('the dead endpoint holds no request');
  return {
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    cpuPerSecondS: (after.cpuS - before.cpuS) / seconds,
    held,
  };
}
