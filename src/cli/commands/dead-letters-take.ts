/** dead-letters retry and discard: some by id, a group, or all that match, part by part with progress. */
import { Command } from 'commander';
import { PosthornError } from '../../errors.ts';
import { type ApiClient, createApiClient } from '../api-client.ts';
import { type FilterFlags, toQuery, toSelection, withFilter } from '../dead-letter-options.ts';
import { progressBar } from '../progress-bar.ts';
import type { Terminal } from '../terminal.ts';
import { printable } from '../terminal-line.ts';
import type { Group, Page, Taken } from '../wire-dead-letter.ts';

interface TakeFlags extends FilterFlags {
  readonly all?: true;
}

interface Sum {
  count: number;
  skipped: number;
  withoutEndpoint: number;
  readonly notDead: Taken['notDead'][number][];
}

/** Small enough for a bar that moves, large enough that commits do not count. */
const PART = 500;

export function retryCommand(terminal: Terminal): Command {
  return withSelection(new Command('retry'), terminal)
    .description('Send dead letters again, each with a full new schedule: by id, by group, or all that match.')
    .action(async (ids: readonly string[], flags: TakeFlags, command: Command) => {
      const selection = selectionOf(ids, flags, command);
      const client = createApiClient(flags, terminal.env);
      const taken = await takeAll(client, terminal, flags, ids, (part) =>
        client.post('dead-letter/retry', { ...selection, ...part }),
      );
      tell(terminal, flags, taken, ['is being sent again', 'are being sent again']);
    });
}

export function discardCommand(terminal: Terminal): Command {
  return withSelection(new Command('discard'), terminal)
    .description('Give dead letters up: by id, by group, or all that match. The reason is kept with each.')
    .requiredOption('--reason <text>', 'why, for whoever looks at it later')
    .option('--yes', 'with --all: it is meant; asked for on a terminal, not in a script')
    .action(async (ids: readonly string[], flags: TakeFlags & { reason: string; yes?: true }, command: Command) => {
      const filter = selectionOf(ids, flags, command);
      const client = createApiClient(flags, terminal.env);
      if (flags.all && !flags.yes && isAtTerminal(terminal)) await refuseUnmeant(client, flags);
      const taken = await takeAll(client, terminal, flags, ids, (part) =>
        client.post('dead-letter/discard', { filter, reason: flags.reason, ...part }),
      );
      tell(terminal, flags, taken, ['is given up', 'are given up']);
    });
}

function isAtTerminal({ isTerminal = false, keyboard }: Terminal): boolean {
  return isTerminal && keyboard?.isTTY === true;
}

/** A line from the history must not give up what nobody looked at. */
async function refuseUnmeant(client: ApiClient, flags: TakeFlags): Promise<void> {
  const total = await totalOf(client, flags);
  if (total === 0) return;
  const what = total === 1 ? '1 dead letter' : `${total?.toLocaleString('en') ?? 'more than 10,000'} dead letters`;
  throw new PosthornError('validation', `Nothing was given up: --all is ${what}. Give --yes if you mean it`);
}

function withSelection(command: Command, terminal: Terminal): Command {
  return withFilter(command.argument('[ids...]', 'dead letters: dlv_…'), terminal.clock)
    .option('--all', 'all there are')
    .option('--json', 'print JSON');
}

/** Everything is only meant when it is said. */
function selectionOf(ids: readonly string[], flags: TakeFlags, command: Command): Record<string, unknown> {
  const filter = toSelection(flags);
  const ways = [ids.length > 0, Object.keys(filter).length > 0, flags.all === true].filter(Boolean).length;
  if (ways !== 1) command.error('error: name dead letters by id, or by a filter such as --group, or give --all');
  if (flags.all) return { all: true };
  return ids.length > 0 ? { ids } : filter;
}

async function takeAll(
  client: ApiClient,
  terminal: Terminal,
  flags: TakeFlags,
  ids: readonly string[],
  take: (part: object) => Promise<Taken>,
): Promise<Sum> {
  const bar = progressBar(terminal, ids.length > 0 ? ids.length : await totalOf(client, flags));
  const sum: Sum = { count: 0, skipped: 0, withoutEndpoint: 0, notDead: [] };
  let iterator: string | null = null;
  do {
    const taken: Taken = await take({ limit: PART, ...(iterator !== null && { iterator }) });
    sum.count += taken.count;
    sum.skipped += taken.skipped;
    sum.withoutEndpoint += taken.withoutEndpoint;
    sum.notDead.push(...taken.notDead);
    // What could not be taken is told at the end: here it would look like done.
    if (taken.count > 0) bar.add(taken.count);
    iterator = taken.iterator;
  } while (iterator !== null);
  bar.end();
  return sum;
}

/** How many there are to take, where groups can tell: by owner, group and time of death. */
async function totalOf(client: ApiClient, flags: TakeFlags): Promise<number | undefined> {
  const { group, endpoint, eventType, cause, fingerprint, error } = flags;
  if ([endpoint, eventType, cause, fingerprint, error].some((value) => value !== undefined)) return undefined;
  const { application, source, died_after, died_before } = toQuery(flags);
  let total = 0;
  let iterator: string | undefined;
  do {
    const query = { application, source, died_after, died_before, limit: '250', iterator };
    const page: Page<Group> = await client.get('dead-letter/group', query);
    for (const each of page.data) {
      if (group !== undefined && each.id !== group) continue;
      if (each.countIsCapped) return undefined;
      total += each.count;
    }
    iterator = page.done ? undefined : (page.iterator ?? undefined);
  } while (iterator !== undefined);
  return total;
}

/** Who named one that is no dead letter hears so, and a script stops: nothing was done to it. */
function tell({ out }: Terminal, flags: TakeFlags, sum: Sum, [one, many]: readonly [string, string]): void {
  const { count, skipped, notDead } = sum;
  if (flags.json) out(`${JSON.stringify(sum)}\n`);
  else if (count + skipped > 0 || notDead.length === 0) {
    out(`${count} ${count === 1 ? one : many}.${whySkipped(sum)}\n`);
  }
  if (notDead.length === 0) return;
  const named = notDead.map(({ id, reason }) => `${printable(id)} is no dead letter: ${printable(reason)}`);
  throw new PosthornError('not_found', named.join('; '));
}

function whySkipped({ skipped, withoutEndpoint }: Sum): string {
  const [faster, whose] = [skipped - withoutEndpoint, withoutEndpoint === 1 ? 'its' : 'their'];
  const gone = withoutEndpoint === 0 ? '' : ` ${withoutEndpoint} could not be: ${whose} endpoint is deleted.`;
  return `${gone}${faster === 0 ? '' : ` Somebody else was faster with ${faster}.`}`;
}
