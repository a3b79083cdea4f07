import { bars, count, megabytes, ratio, table } from '../report.mjs';
import { withContestant } from '../runs.mjs';
import { median, spread } from '../statistics.mjs';

export const CONTESTANTS = [
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

/** The limit does the same work in every round: when its rate changes by more than this, the machine was busy. */
const CALM_FACTOR = 1.25;

/** All contestants once per round, in turn, so that a slow minute of the machine hits them alike. */
export async function throughput(bench) {
  const { options, say } = bench;
  const contestants = CONTESTANTS.filter((each) => bench.hasRedis || each.appendfsync === undefined);
  const rounds = [];
  const failed = new Map();
  for (let round = 1; round <= options.rounds; round++) {
    const results = {};
    for (const contestant of contestants.filter(({ name }) => !failed.has(name))) {
      try {
        const result = await withContestant(bench, contestant, (run) => run.throughput(options.events));
        results[contestant.name] = result;
        say(`round ${round}/${options.rounds}  ${contestant.title.padEnd(26)} ${count(result.perSecond)}/s`);
      } catch (error) {
        if (bench.stopped) throw error;
        failed.set(contestant.name, error.message);
        say(`round ${round}/${options.rounds}  ${contestant.title.padEnd(26)} FAILED, left out: ${error.message}`);
      }
    }
    rounds.push(results);
  }
  const measured = contestants.filter(({ name }) => !failed.has(name));
  const medians = Object.fromEntries(measured.map(({ name }) => [name, mediansOf(rounds, name)]));
  const targets = TARGETS.map((target) => judge(target, rounds, medians, failed));
  show(bench, measured, medians, rounds);
  if (medians.limit !== undefined) warnOfNoise(bench, rounds);
  return { results: { rounds, medians, failed: Object.fromEntries(failed) }, targets };
}

function mediansOf(rounds, name) {
  const of = (key) => median(rounds.map((results) => results[name][key]));
  const keys = ['perSecond', 'acceptedPerSecond', 'cpuPerThousandS', 'peakRssBytes'];
  return Object.fromEntries(keys.map((key) => [key, of(key)]));
}

/** Within each round first: the rates drift between rounds, their ratios hardly. */
function ratiosOf(rounds, of, to) {
  return spread(rounds.map((results) => results[of].perSecond / results[to].perSecond));
}

function judge({ of, to, atLeast, label }, rounds, medians, failed) {
  if (medians[of] === undefined || medians[to] === undefined) {
    return { label, met: undefined, why: failed.size > 0 ? 'a contestant failed' : 'no redis-server' };
  }
  const measured = ratiosOf(rounds, of, to);
  return { label, met: measured.median >= atLeast, measured: ratio(measured), spread: measured };
}

function show({ print }, measured, medians, rounds) {
  const ratioTo = (name, other) =>
    medians[other] === undefined || name === other ? '' : ratio(ratiosOf(rounds, name, other));
  print(
    table(
      ['', 'deliveries/s', 'CPU s per 1,000', 'peak RSS', 'to the limit', 'to BullMQ + axios', 'to BullMQ + undici'],
      measured.map(({ name, title }) => [
        title,
        count(medians[name].perSecond),
        medians[name].cpuPerThousandS.toFixed(3),
        megabytes(medians[name].peakRssBytes),
        ratioTo(name, 'limit'),
        ratioTo(name, 'bullmq-axios'),
        ratioTo(name, 'bullmq-undici'),
      ]),
    ),
  );
  print(
    bars(
      measured.map(({ name, title }) => ({
        title,
        value: medians[name].perSecond,
        text: `${count(medians[name].perSecond)}/s`,
      })),
    ),
  );
}

function warnOfNoise({ say }, rounds) {
  const { min, max } = spread(rounds.map((results) => results.limit.perSecond));
  if (max / min <= CALM_FACTOR) return;
  say(`the machine was busy: the limit itself went from ${count(min)} to ${count(max)}/s.`);
  say('The CPU column holds all the same; for the ratios run it again on an idle machine.');
}
