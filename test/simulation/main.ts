/** `npm run simulate`: the long form of the simulation. */
import { runFaults } from './faults.ts';
import { type NeighboursOptions, type NeighboursResult, runNeighbours } from './neighbours.ts';
import { HELP, readOptions, type SimulateOptions } from './options.ts';
import { runOverload } from './overload.ts';
import { percentiles } from './percentiles.ts';
import { latencyPlot, latencyTable } from './report.ts';

/** What a node is by default, and what 100,000 lanes send through it. */
const MAX_IN_FLIGHT = 1024;
const LANE_CEILING = 64;
const DELIVERIES_PER_SECOND_PER_LANE = 0.02;
const FLOODERS = 5;
const FLOOD_EACH = 20_000;
const OVERLOAD_FLOODERS = 100;
/** Each lasts longer than the others wait: a flooder that was done meanwhile would leave its places to them. */
const OVERLOAD_FLOODS = [500, 2000];

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) process.stdout.write(HELP);
  else process.exitCode = (await (options.seeds > 0 ? faults(options) : fairness(options))) ? 0 : 1;
}

async function faults({ seed, seeds }: SimulateOptions): Promise<boolean> {
  let broken = 0;
  for (let each = seed; each < seed + seeds; each++) {
    const { violations } = await runFaults(each);
    progress('faults')(`seed ${each}, ${broken} broken`);
    if (violations.length === 0) continue;
    broken += 1;
    say(`seed ${each}: ${violations.slice(0, 5).join('; ')}`);
  }
  progress('')('');
  return verdicts([[`${seeds} seeds of faults from ${seed} on, ${broken} of them broken`, broken === 0]]);
}

async function fairness({ lanes, seconds, seed }: SimulateOptions): Promise<boolean> {
  const shared: Omit<NeighboursOptions, 'bad'> = {
    seed,
    lanes,
    seconds,
    maxInFlight: MAX_IN_FLIGHT,
    laneCeiling: LANE_CEILING,
    deliveriesPerSecond: Math.max(100, lanes * DELIVERIES_PER_SECOND_PER_LANE),
    flooders: FLOODERS,
    floodEach: FLOOD_EACH,
  };
  say(`${lanes} lanes, ${shared.deliveriesPerSecond} deliveries/s for ${seconds} s, seed ${seed}`);
  const alone = await runNeighbours({ ...shared, bad: false, onProgress: progress('alone') });
  const together = await runNeighbours({ ...shared, bad: true, onProgress: progress('with bad neighbours') });
  progress('')('');
  const [before, after] = [percentiles(alone.latenciesMs.healthy), percentiles(together.latenciesMs.healthy)];
  say(latencyTable({ alone, 'bad neighbours': together }));
  say(latencyPlot('healthy, alone', alone.latenciesMs.healthy));
  say(latencyPlot('healthy, with bad neighbours', together.latenciesMs.healthy));
  for (const [name, run] of Object.entries({ alone, together })) say(summary(name, run));

  const waits: number[] = [];
  const violations = [...alone.violations, ...together.violations];
  for (const floodEach of OVERLOAD_FLOODS) {
    const run = await runOverload({
      seed,
      lanes: Math.min(lanes, 10_000),
      maxInFlight: MAX_IN_FLIGHT,
      laneCeiling: LANE_CEILING,
      flooders: OVERLOAD_FLOODERS,
      floodEach,
    });
    violations.push(...run.violations);
    waits.push(run.waitMs.max);
    const { count, p50, p99, max } = run.waitMs;
    say(
      `overload: ${count} lanes with 1 beside ${OVERLOAD_FLOODERS} with ${floodEach} each wait ${p50}/${p99}/${max} ms`,
    );
  }
  const [few = 0, many = 0] = waits;
  return verdicts([
    ['p99 of healthy endpoints within twice of alone', after.p99 <= 2 * before.p99],
    ['no healthy delivery beyond the bound', before.max <= alone.boundMs && after.max <= together.boundMs],
    ["a lane's wait does not grow with others' backlog", many <= 1.1 * few],
    [`nothing lost, delivered twice or beyond a limit ${violations.slice(0, 5).join('; ')}`, violations.length === 0],
  ]);
}

function summary(name: string, { boundMs, mostInFlight, events, hash }: NeighboursResult): string {
  return `${name}: bound ${boundMs} ms, at most ${mostInFlight} in flight, ${events} events, trace ${hash.slice(0, 16)}`;
}

function verdicts(checks: readonly (readonly [string, boolean])[]): boolean {
  for (const [what, holds] of checks) say(`${holds ? 'holds ' : 'BROKEN'}  ${what}`);
  return checks.every(([, holds]) => holds);
}

function progress(name: string): (line: string) => void {
  return (line) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line === '' ? '' : `${name}: ${line}`}`);
  };
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`posthorn: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
});
