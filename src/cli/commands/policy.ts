import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { configuredPreset, loadConfig } from '../../config/index.ts';
import { describeError, type Issue, isPosthornError, PosthornError } from '../../errors.ts';
import { ERROR_KINDS, type ErrorKind, type Policy } from '../../model/index.ts';
import {
  closest,
  formatDuration,
  maxAttempts,
  PRESET_NAMES,
  parsePolicy,
  presets,
  simulate,
} from '../../policy/index.ts';
import { describePolicy } from '../describe-policy.ts';
import { parseDuration } from '../duration.ts';
import { examples } from '../examples.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { timelinePlot, timelineTable } from '../timeline.ts';

interface SimulateOptions {
  readonly outage: number;
  readonly failure: number | ErrorKind;
  readonly file?: string;
  readonly seed?: number;
  readonly json?: true;
}

export function policyCommand(terminal: Terminal): Command {
  return new Command('policy')
    .summary('look at retry policies and try them out')
    .description(
      'Look at retry policies and try them out, without a server. The presets are listed here; policies of your own ' +
        'are JSON files for --file, or stored under a name with POST /api/v1/policy.',
    )
    .addHelpText(
      'after',
      examples(
        ['posthorn policy list', 'which presets there are'],
        ['posthorn policy show public-api', 'what one of them does'],
        ['posthorn policy simulate public-api --outage 40m', 'when it would deliver after an outage'],
      ),
    )
    .addCommand(listCommand(terminal))
    .addCommand(showCommand(terminal))
    .addCommand(simulateCommand(terminal));
}

function listCommand({ out, env }: Terminal): Command {
  return new Command('list')
    .description('List the presets: attempts, the time from the first to the last, and what they are for.')
    .option('--json', 'print JSON')
    .action((options: { json?: true }) => {
      const config = loadConfig({ env });
      const rows = PRESET_NAMES.map((name) => {
        const policy = configuredPreset(config, name) ?? presets[name].policy;
        const lastsMs = simulate(policy, { outageMs: Number.POSITIVE_INFINITY, failure: 503 }).lateMs;
        return { name, attempts: maxAttempts(policy), lastsMs, description: presets[name].description };
      });
      if (options.json) return out(toJson(rows));
      const cells = rows.map((row) => [row.name, String(row.attempts), formatDuration(row.lastsMs), row.description]);
      out(table([['name', 'attempts', 'within', 'for'], ...cells], ''));
    });
}

function showCommand({ out, env }: Terminal): Command {
  return new Command('show')
    .argument('<name>', `a preset: ${PRESET_NAMES.join(', ')}`)
    .description('Show a preset in words, or as the JSON that a policy of your own can start from.')
    .option('--json', 'print JSON')
    .addHelpText('after', examples(['posthorn policy show quick --json > mine.json', 'start a policy of your own']))
    .action((name: string, options: { json?: true }) => {
      const policy = presetNamed(name, env);
      if (options.json) return out(toJson(policy));
      out(`${name}: ${presets[name as keyof typeof presets].description}\n\n${describePolicy(policy)}`);
    });
}

function simulateCommand({ out, env }: Terminal): Command {
  return new Command('simulate')
    .argument('[name]', `a preset: ${PRESET_NAMES.join(', ')}`)
    .description('Show what would happen to a message while its endpoint is down, by the same rules as the engine.')
    .addOption(
      new Option('-o, --outage <duration>', 'how long the endpoint is down: 90s, 40m, 2h, 1d')
        .argParser(parseDuration)
        .default(parseDuration('1h'), '1h'),
    )
    .option('-f, --failure <what>', 'how it fails: a status (503) or an error kind (timeout)', parseFailure, 'timeout')
    .option('--file <policy.json>', 'simulate the policy in this file instead of a preset')
    .option('--seed <number>', 'draw the jitter from this seed instead of taking its middle', parseSeed)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['posthorn policy simulate public-api --outage 40m', 'an outage of 40 minutes'],
        ['posthorn policy simulate quick --outage 1d --failure 503', 'longer than the policy lasts'],
        ['posthorn policy simulate --file mine.json --outage 2h', 'a policy of your own'],
      ),
    )
    .action((name: string | undefined, options: SimulateOptions, command: Command) => {
      if ((name === undefined) === (options.file === undefined)) {
        command.error('error: name a preset or give --file, one of the two');
      }
      const policy = options.file === undefined ? presetNamed(name ?? '', env) : policyInFile(options.file);
      const simulation = simulate(policy, {
        outageMs: options.outage,
        failure: options.failure,
        ...(options.seed !== undefined && { seed: options.seed }),
      });
      if (options.json) return out(toJson({ policy: name ?? options.file, outageMs: options.outage, ...simulation }));
      const headline = `${name ?? options.file}: ${simulation.summary}`;
      out(`${headline}\n\n${timelineTable(simulation)}\n${timelinePlot(simulation, options.outage)}`);
    });
}

function presetNamed(name: string, env: Terminal['env']): Policy {
  const policy = configuredPreset(loadConfig({ env }), name);
  if (policy !== undefined) return policy;
  const near = closest(name, PRESET_NAMES);
  const hint = near === undefined ? `The presets are ${PRESET_NAMES.join(', ')}.` : `Did you mean ${near}?`;
  throw new PosthornError('validation', `There is no preset ${JSON.stringify(name)}. ${hint}`);
}

function policyInFile(path: string): Policy {
  let data: unknown;
  try {
    data = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new PosthornError('validation', `Cannot read a policy from ${path}: ${describeError(cause)}`, { cause });
  }
  try {
    return parsePolicy(data, []);
  } catch (error) {
    if (!isPosthornError(error, 'validation')) throw error;
    const lines = error.issues.map((issue) => `${path}: ${describeIssue(issue)}`);
    throw new PosthornError('validation', lines.join('; '), { cause: error, issues: error.issues });
  }
}

function describeIssue({ loc, msg, type }: Issue): string {
  // The message on an unknown key names the key itself.
  const place = (type === 'value_error.extra' ? loc.slice(0, -1) : loc).join('.');
  return place === '' ? msg : `${place}: ${msg}`;
}

function parseFailure(text: string): number | ErrorKind {
  if (/^[1-5]\d\d$/.test(text)) return Number(text);
  const kind = ERROR_KINDS.find((each) => each === text);
  if (kind !== undefined) return kind;
  const near = closest(text, ERROR_KINDS);
  throw new InvalidArgumentError(
    `Write a status from 100 to 599, or one of ${ERROR_KINDS.join(', ')}.${near === undefined ? '' : ` Did you mean ${near}?`}`,
  );
}

function parseSeed(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Write a whole number, such as 7.');
  return Number(text);
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
