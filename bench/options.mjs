import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** Those that take many minutes run only when they are named. */
const LONG_PARTS = ['pg-backlog', 'scaling'];
const PARTS = ['throughput', 'receive', 'latency', 'neighbour', 'backlog', 'postgres', ...LONG_PARTS];
const DEFAULT_PARTS = PARTS.filter((part) => !LONG_PARTS.includes(part));

const HELP = `npm run bench -- [options]

  --only <parts>     ${PARTS.join(', ')}:
                     one, or several separated by commas (default: all but ${LONG_PARTS.join(' and ')})
  --rounds <n>       rounds of throughput, receive, postgres, scaling, latency and neighbour; medians are shown (default: 3)
  --events <n>       deliveries per contestant and turn, at most what it does in 3 seconds (default: 20000)
  --seconds <n>      length of one latency or neighbour measurement (default: 10)
  --pending <n>      pending deliveries of backlog (default: 1000000) and pg-backlog (default: 5000000)
  --dist <folder>    the build of Posthorn to measure (default: dist)
`;

/** The checked options, or undefined after help was asked for. Throws with one line for a person. */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', default: DEFAULT_PARTS.join(',') },
      rounds: { type: 'string', default: '3' },
      events: { type: 'string', default: '20000' },
      seconds: { type: 'string', default: '10' },
      pending: { type: 'string' },
      dist: { type: 'string', default: fileURLToPath(new URL('../dist', import.meta.url)) },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return undefined;
  }
  const only = values.only.split(',').map((part) => part.trim());
  const unknown = only.find((part) => !PARTS.includes(part));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: there is ${PARTS.join(', ')}.`);
  return {
    parts: PARTS.filter((part) => only.includes(part)),
    rounds: wholeNumber('rounds', values.rounds, 1, 100),
    events: wholeNumber('events', values.events, 100, 1_000_000),
    seconds: wholeNumber('seconds', values.seconds, 1, 600),
    pending: values.pending === undefined ? undefined : wholeNumber('pending', values.pending, 20_000, 10_000_000),
    dist: values.dist,
  };
}

function wholeNumber(name, text, min, max) {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`--${name} ${text}: must be a whole number from ${min} to ${max}.`);
}
