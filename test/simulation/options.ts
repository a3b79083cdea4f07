import { parseArgs } from 'node:util';

export interface SimulateOptions {
  readonly lanes: number;
  readonly seed: number;
  readonly seconds: number;
  /** How many seeds of faults to run instead of the fairness scenarios; 0 for those. */
  readonly seeds: number;
}

export const HELP = `npm run simulate -- [options]

Runs the real engine on a real store in virtual time and shows what healthy endpoints see of bad neighbours.

  --lanes <n>     endpoints, 100 to an application (default: 100000)
  --seconds <n>   virtual seconds of traffic (default: 30)
  --seed <n>      the same seed gives the same run (default: 1)
  --seeds <n>     instead: n runs with faults of the store and stalled nodes, from --seed on
`;

/** The checked options, or undefined when help is asked for. Throws with one line for a person. */
export function readOptions(args: readonly string[]): SimulateOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      lanes: { type: 'string', default: '100000' },
      seconds: { type: 'string', default: '30' },
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '0' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  return {
    lanes: wholeNumber('lanes', values.lanes, 100, 1_000_000),
    seconds: wholeNumber('seconds', values.seconds, 1, 3600),
    seed: wholeNumber('seed', values.seed, 0, 1e9),
    seeds: wholeNumber('seeds', values.seeds, 0, 1e6),
  };
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new Error(`--${name} ${text}: must be a whole number from ${min} to ${max}.`);
}
