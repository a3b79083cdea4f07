// Contestants against each other: how many a second, in turns, and what of it was asked for.
import { bars, count, megabytes, ratio, table } from './report.mjs';
import { openContestant } from './runs.mjs';
import { median, spread } from './statistics.mjs';

/** The limit does the same work in every turn: when its rate changes by more than this, the machine was busy. */
const CALM_FACTOR = 1.25;

/** What is counted by the second, where a part does not say otherwise. */
const DELIVERIES = [{ key: 'perSecond', head: 'deliveries/s' }];

/** A round opens every contestant anew; then they take turns, in their order and back. */
const TURNS = 4;
const TURN_S = 3;

/**
 * All contestants are open at once and take short turns, so that a slow moment of the machine hits them alike: a shared
 * machine's speed can double from one minute to the next. The closest rivals stand beside each other. One that waits for its
 * turn does next to nothing.
 *
 * @param bench
 * @param {import('./runs.mjs').Contestant[]} all
 * @param {{ of: string, to: string | string[], atLeast: number, label: string }[]} targets Of several, the best counts.
 * @param {{ to: string, head: string }[]} columns What each row's rate is set beside.
 * @param {{ key: string, head: string }[]} rates What is counted by the second. Ratios and targets go by the first.
 */
export async function race(bench, all, targets, columns, rates = DELIVERIES) {
  const { options } = bench;
  const contestants = all.filter((each) => lacks(bench, each) === undefined);
  const turns = [];
  const failed = new Map();
  for (let round = 1; round <= options.rounds; round++) {
    const left = contestants.filter(({ name }) => !failed.has(name));
    turns.push(...(await runRound(bench, `round ${round}/${options.rounds}`, left, failed, rates)));
  }
  const measured = contestants.filter(({ name }) => !failed.has(name));
  const medians = Object.fromEntries(measured.map(({ name }) => [name, mediansOf(turns, name)]));
  const why = failed.size > 0 ? 'a contestant failed' : all.map((each) => lacks(bench, each)).find(Boolean);
  show(bench, measured, medians, turns, columns, rates);
  const [{ key }] = rates;
  if (medians.limit !== undefined) warnOfNoise(bench, turns, key);
  return {
    results: { turns, medians, failed: Object.fromEntries(failed) },
    targets: targets.map((target) => judge(target, turns, medians, why, key)),
  };
}

/** Answers each turn's results by contestant. Who fails is left out from then on. */
async function runRound(bench, head, contestants, failed, rates) {
  const { options, say } = bench;
  const opened = [];
  const turns = [];
  const orLeaveOut = async ({ name, title }, work) => {
    try {
      await work();
    } catch (error) {
      if (bench.stopped) throw error;
      failed.set(name, error.message);
      say(`${head}  ${title} FAILED, left out: ${error.message}`);
      // What it still had to send would count as the next one's.
      await Promise.allSettled(opened.filter((each) => each.name === name).map(({ close }) => close()));
    }
  };
  try {
    for (const contestant of contestants) {
      say(`${head}  opens and warms up ${contestant.title}`);
      await orLeaveOut(contestant, async () =>
        opened.push({ ...contestant, ...(await openContestant(bench, contestant)) }),
      );
    }
    for (let turn = 1; turn <= TURNS; turn++) {
      const results = {};
      for (const contestant of turn % 2 === 1 ? opened : [...opened].reverse()) {
        const { name, title, run } = contestant;
        if (failed.has(name)) continue;
        await orLeaveOut(contestant, async () => {
          const result = await run.throughput(TURN_S, options.events);
          results[name] = result;
          const said = rates.map((rate) => `${count(result[rate.key])} ${rate.head}`).join(', ');
          say(`${head}, turn ${turn}/${TURNS}  ${title.padEnd(34)} ${said}`);
        });
      }
      turns.push(results);
    }
  } finally {
    await Promise.allSettled(opened.map(({ close }) => close()));
  }
  return turns;
}

function lacks(bench, { appendfsync, postgres }) {
  if (appendfsync !== undefined && !bench.hasRedis) return 'no redis-server';
  return postgres && !bench.hasPostgres ? 'no PostgreSQL' : undefined;
}

function mediansOf(turns, name) {
  const of = (key) => median(turns.map((results) => results[name][key]));
  const keys = ['perSecond', 'acceptedPerSecond', 'cpuPerThousandS', 'peakRssBytes'];
  return Object.fromEntries(keys.map((key) => [key, of(key)]));
}

/** Within each turn first: the rates drift from turn to turn, their ratios hardly. */
function ratiosOf(turns, of, other, key) {
  return spread(turns.map((results) => results[of][key] / results[other][key]));
}

/** The best of several is the one that is closest, only known when all of them were measured. */
function judge({ of, to, atLeast, label }, turns, medians, why, key) {
  const others = [to].flat();
  if ([of, ...others].some((name) => medians[name] === undefined)) return { label, met: undefined, why };
  const measured = others
    .map((other) => ratiosOf(turns, of, other, key))
    .reduce((a, b) => (b.median < a.median ? b : a));
  return { label, met: measured.median >= atLeast, measured: ratio(measured), spread: measured };
}

function show({ print }, measured, medians, turns, columns, rates) {
  if (measured.length === 0) return;
  const [{ key }] = rates;
  const ratioTo = (name, other) =>
    medians[other] === undefined || name === other ? '' : ratio(ratiosOf(turns, name, other, key));
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

function warnOfNoise({ say }, turns, key) {
  const { min, max } = spread(turns.map((results) => results.limit[key]));
  if (max / min <= CALM_FACTOR) return;
  say(`the machine was busy: the limit itself went from ${count(min)} to ${count(max)}/s.`);
  say('The CPU column holds all the same; for the ratios run it again on an idle machine.');
}
