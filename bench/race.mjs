// Contestants against each other: how many a second, in turns, and what of it was asked for.
import { bars, count, megabytes, ratio, table } from './report.mjs';
import { withContestant } from './runs.mjs';
import { median, spread } from './statistics.mjs';

/** The limit does the same work in every round: when its rate changes by more than this, the machine was busy. */
const CALM_FACTOR = 1.25;

/** What is counted by the second, where a part does not say otherwise. */
const DELIVERIES = [{ key: 'perSecond', head: 'deliveries/s' }];

/**
 * All contestants once per round, in turn, so that a slow minute of the machine hits them alike.
 *
 * @param bench
 * @param {import('./runs.mjs').Contestant[]} all
 * @param {{ of: string, to: string | string[], atLeast: number, label: string }[]} targets Of several, the best counts.
 * @param {{ to: string, head: string }[]} columns What each row's rate is set beside.
 * @param {{ key: string, head: string }[]} rates What is counted by the second. Ratios and targets go by the first.
 */
export async function race(bench, all, targets, columns, rates = DELIVERIES) {
  const { options, say } = bench;
  const contestants = all.filter((each) => lacks(bench, each) === undefined);
  const rounds = [];
  const failed = new Map();
  for (let round = 1; round <= options.rounds; round++) {
    const results = {};
    for (const contestant of contestants.filter(({ name }) => !failed.has(name))) {
      const head = `round ${round}/${options.rounds}  ${contestant.title.padEnd(34)}`;
      try {
        const result = await withContestant(bench, contestant, (run) => run.throughput(options.events));
        results[contestant.name] = result;
        say(`${head} ${rates.map((rate) => `${count(result[rate.key])} ${rate.head}`).join(', ')}`);
      } catch (error) {
        if (bench.stopped) throw error;
        failed.set(contestant.name, error.message);
        say(`${head} FAILED, left out: ${error.message}`);
      }
    }
    rounds.push(results);
  }
  const measured = contestants.filter(({ name }) => !failed.has(name));
  const medians = Object.fromEntries(measured.map(({ name }) => [name, mediansOf(rounds, name)]));
  const why = failed.size > 0 ? 'a contestant failed' : all.map((each) => lacks(bench, each)).find(Boolean);
  show(bench, measured, medians, rounds, columns, rates);
  const [{ key }] = rates;
  if (medians.limit !== undefined) warnOfNoise(bench, rounds, key);
  return {
    results: { rounds, medians, failed: Object.fromEntries(failed) },
    targets: targets.map((target) => judge(target, rounds, medians, why, key)),
  };
}

function lacks(bench, { appendfsync, postgres }) {
  if (appendfsync !== undefined && !bench.hasRedis) return 'no redis-server';
  return postgres && !bench.hasPostgres ? 'no PostgreSQL' : undefined;
}

function mediansOf(rounds, name) {
  const of = (key) => median(rounds.map((results) => results[name][key]));
  const keys = ['perSecond', 'acceptedPerSecond', 'cpuPerThousandS', 'peakRssBytes'];
  return Object.fromEntries(keys.map((key) => [key, of(key)]));
}

/** Within each round first: the rates drift between rounds, their ratios hardly. */
function ratiosOf(rounds, of, others, key) {
  return spread(rounds.map((results) => results[of][key] / Math.max(...others.map((name) => results[name][key]))));
}

/** The best of several is only known when all of them were measured. */
function judge({ of, to, atLeast, label }, rounds, medians, why, key) {
  const others = [to].flat();
  if ([of, ...others].some((name) => medians[name] === undefined)) return { label, met: undefined, why };
  const measured = ratiosOf(rounds, of, others, key);
  return { label, met: measured.median >= atLeast, measured: ratio(measured), spread: measured };
}

function show({ print }, measured, medians, rounds, columns, rates) {
  if (measured.length === 0) return;
  const [{ key }] = rates;
  const ratioTo = (name, other) =>
    medians[other] === undefined || name === other ? '' : ratio(ratiosOf(rounds, name, [other], key));
  print(
    table(
      ['', ...rates.map(({ head }) => head), 'CPU s per 1,000', 'memory', ...columns.map(({ head }) => head)],
      measured.map(({ name, title }) => [
        title,
        ...rates.map((rate) => count(medians[name][rate.key])),
        medians[name].cpuPerThousandS.toFixed(3),
        megabytes(medians[name].peakRssBytes),
        ...columns.map(({ to }) => ratioTo(name, to)),
      ]),
    ),
  );
  print(
    bars(
      measured.map(({ name, title }) => ({
        title,
        value: medians[name][key],
        text: `${count(medians[name][key])}/s`,
      })),
    ),
  );
}

function warnOfNoise({ say }, rounds, key) {
  const { min, max } = spread(rounds.map((results) => results.limit[key]));
  if (max / min <= CALM_FACTOR) return;
  say(`the machine was busy: the limit itself went from ${count(min)} to ${count(max)}/s.`);
  say('The CPU column holds all the same; for the ratios run it again on an idle machine.');
}
