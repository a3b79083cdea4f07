import { bars, milliseconds, table } from '../report.mjs';
import { withContestant } from '../runs.mjs';
import { median, percentile } from '../statistics.mjs';

const RATE_PER_SECOND = 200;
const POSTHORN = { name: 'posthorn-library', title: 'Posthorn, library' };
const BULLMQ = { name: 'bullmq-undici', title: 'BullMQ + undici, always', appendfsync: 'always' };

/** From the call that publishes to the arrival at the sink. Both are durable before they send. */
export async function latency(bench) {
  const { options, say, print } = bench;
  const contestants = bench.hasRedis ? [POSTHORN, BULLMQ] : [POSTHORN];
  const rounds = [];
  for (let round = 1; round <= options.rounds; round++) {
    const results = {};
    for (const contestant of contestants) {
      const result = await withContestant(bench, contestant, (run) => measure(run, options.seconds));
      results[contestant.name] = result;
      const shown = `p50 ${milliseconds(result.p50Ms)}, p99 ${milliseconds(result.p99Ms)}`;
      say(`round ${round}/${options.rounds}  ${contestant.title.padEnd(26)} ${shown}`);
    }
    rounds.push(results);
  }
  const medians = Object.fromEntries(contestants.map(({ name }) => [name, mediansOf(rounds, name)]));
  const rows = contestants.map(({ name, title }) => {
    const { p50Ms, p99Ms, latestMs } = medians[name];
    return [title, milliseconds(p50Ms), milliseconds(p99Ms), milliseconds(latestMs)];
  });
  print(table([`at ${RATE_PER_SECOND}/s`, 'p50', 'p99', 'latest call'], rows));
  print(
    bars(
      contestants.flatMap(({ name, title }) => [
        { title: `${title}, p50`, value: medians[name].p50Ms, text: milliseconds(medians[name].p50Ms) },
        { title: `${title}, p99`, value: medians[name].p99Ms, text: milliseconds(medians[name].p99Ms) },
      ]),
    ),
  );
  return { results: { rounds, medians }, targets: ['p50Ms', 'p99Ms'].map((key) => judge(key, medians)) };
}

async function measure(run, seconds) {
  const { latenciesMs, latestMs } = await run.latencies(RATE_PER_SECOND, seconds);
  return { p50Ms: percentile(latenciesMs, 0.5), p99Ms: percentile(latenciesMs, 0.99), latestMs };
}

function mediansOf(rounds, name) {
  const of = (key) => median(rounds.map((results) => results[name][key]));
  return { p50Ms: of('p50Ms'), p99Ms: of('p99Ms'), latestMs: of('latestMs') };
}

function judge(key, medians) {
  const label = `latency ${key.slice(0, 3)} ≤ BullMQ, appendfsync always`;
  const ours = medians[POSTHORN.name][key];
  const theirs = medians[BULLMQ.name]?.[key];
  if (theirs === undefined) return { label, met: undefined, why: 'no redis-server' };
  return { label, met: ours <= theirs, measured: `${milliseconds(ours)} and ${milliseconds(theirs)}` };
}
