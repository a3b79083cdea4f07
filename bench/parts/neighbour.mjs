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
  const of = (company, key) => median(rounds.map((results) => results[company][key]));
  const alone = { p50Ms: of('alone', 'p50Ms'), p99Ms: of('alone', 'p99Ms') };
  const besideDead = { p50Ms: of('besideDead', 'p50Ms'), p99Ms: of('besideDead', 'p99Ms') };
  print(
    table(
      [`healthy endpoint at ${RATE_PER_SECOND}/s`, 'p50', 'p99'],
      [
        ['alone', milliseconds(alone.p50Ms), milliseconds(alone.p99Ms)],
        ['beside a dead one', milliseconds(besideDead.p50Ms), milliseconds(besideDead.p99Ms)],
      ],
    ),
  );
  const factor = besideDead.p99Ms / alone.p99Ms;
  const target = {
    label: 'healthy p99 beside a dead endpoint ≤ 2 × alone',
    met: factor <= 2,
    measured: `${factor.toFixed(2)} (${milliseconds(besideDead.p99Ms)} and ${milliseconds(alone.p99Ms)})`,
  };
  return { results: { rounds, alone, besideDead }, targets: [target] };
}

async function measure(run, company, seconds) {
  if (company === 'besideDead') await run.flood(DEAD_EVENTS);
  const { latenciesMs } = await run.latencies(RATE_PER_SECOND, seconds);
  const held = await run.held();
  if (company === 'besideDead' && held === 0) throw new Error('the dead endpoint holds no request');
  return { p50Ms: percentile(latenciesMs, 0.5), p99Ms: percentile(latenciesMs, 0.99), held };
}
