/** dead-letters list, groups, show and report: tables for people, --json for programs. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { createApiClient, pathPart, type ServerAddress } from '../api-client.ts';
import { type FilterFlags, toQuery, withFilter, withOwner, withServer } from '../dead-letter-options.ts';
import { describeDeadLetter, type ShownDeadLetter } from '../describe-dead-letter.ts';
import { createNames } from '../names.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { printable } from '../terminal-line.ts';
import type { Group, Page, Report } from '../wire-dead-letter.ts';

interface Listed {
  readonly id: string;
  readonly applicationId: string;
  readonly endpointId: string;
  readonly eventType: string;
  readonly deadCause: string;
  readonly deadAt: string;
  readonly lastError: string | null;
}

export function listCommand(terminal: Terminal): Command {
  return withFilter(new Command('list'), terminal.clock)
    .description('List dead letters, the newest first.')
    .option('--limit <number>', 'how many, 1 to 250', parseLimit, 50)
    .option('--iterator <id>', 'go on after this one')
    .option('--json', 'print JSON')
    .action(async (flags: FilterFlags & { limit: number; iterator?: string }) => {
      const query = { ...toQuery(flags), limit: String(flags.limit), iterator: flags.iterator };
      const client = createApiClient(flags, terminal.env);
      const page = await client.get<Page<Listed>>('dead-letter', query);
      if (flags.json) return terminal.out(toJson(page));
      if (page.data.length === 0) return terminal.out('There are no dead letters here.\n');
      const names = createNames(client);
      const rows = page.data.map(async (each) => [
        ...[each.id, minute(each.deadAt), await names.owner(each.applicationId)],
        await names.endpoint(each.applicationId, each.endpointId),
        ...[each.eventType, each.deadCause, each.lastError ?? ''],
      ]);
      const head = ['id', 'died', 'owner', 'endpoint', 'event type', 'cause', 'error'];
      terminal.out(table(printableRows([head, ...(await Promise.all(rows))]), ''));
      if (!page.done) terminal.out(`\nThere are more: --iterator ${page.iterator}\n`);
    });
}

export function groupsCommand(terminal: Terminal): Command {
  return withOwner(new Command('groups'), terminal.clock)
    .description('List groups of dead letters that failed alike: same owner, event type and error.')
    .option('--json', 'print JSON')
    .action(async (flags: FilterFlags) => {
      const client = createApiClient(flags, terminal.env);
      const groups: Group[] = [];
      let iterator: string | undefined;
      do {
        const query = { ...toQuery(flags), limit: '250', iterator };
        const page: Page<Group> = await client.get('dead-letter/group', query);
        groups.push(...page.data);
        iterator = page.done ? undefined : (page.iterator ?? undefined);
      } while (iterator !== undefined);
      groups.sort((a, b) => b.count - a.count);
      if (flags.json) return terminal.out(toJson({ data: groups }));
      if (groups.length === 0) return terminal.out('There are no dead letters here.\n');
      const names = createNames(client);
      const rows = groups.map(async (each) => [
        `${each.count}${each.countIsCapped ? '+' : ''}`,
        ...[minute(each.firstAt), minute(each.lastAt), await names.owner(each.applicationId)],
        ...[each.id, each.exampleId, each.error],
      ]);
      const head = ['count', 'first', 'last', 'owner', 'group', 'example', 'error'];
      terminal.out(table(printableRows([head, ...(await Promise.all(rows))]), ''));
    });
}

export function showCommand(terminal: Terminal): Command {
  return withServer(new Command('show'))
    .argument('<id>', 'a dead letter: dlv_…')
    .description('Show a dead letter: its body and headers, and each attempt with its error and decision.')
    .option('--json', 'print JSON')
    .action(async (id: string, flags: ServerAddress & { json?: true }) => {
      const path = `dead-letter/${pathPart(id)}`;
      const client = createApiClient(flags, terminal.env);
      const shown = await client.get<ShownDeadLetter>(path);
      terminal.out(flags.json ? toJson(shown) : await describeDeadLetter(shown, createNames(client)));
    });
}

export function reportCommand(terminal: Terminal): Command {
  return withOwner(new Command('report'), terminal.clock)
    .description('Report what died, by owner, event type and error, the largest group first. The last seven days.')
    .addOption(new Option('--markdown', 'print Markdown').conflicts('json'))
    .option('--json', 'print JSON')
    .action(async (flags: FilterFlags & { markdown?: true }) => {
      const report = await createApiClient(flags, terminal.env).get<Report>('dead-letter/report', toQuery(flags));
      if (flags.json) return terminal.out(toJson(report));
      const groups = report.groups.map((group) => ({
        ...group,
        error: printable(group.error),
        firstAt: Date.parse(group.firstAt),
        lastAt: Date.parse(group.lastAt),
      }));
      const data = { ...report, from: Date.parse(report.from), to: Date.parse(report.to), groups };
      // Loaded here, so that the small commands do not wait for all the rules.
      const { formatReport } = await import('../../resources/index.ts');
      terminal.out(formatReport(data, flags.markdown ? 'markdown' : 'text'));
    });
}

function printableRows(rows: readonly (readonly string[])[]): string[][] {
  return rows.map((row) => row.map(printable));
}

function minute(at: string): string {
  return at.slice(0, 16).replace('T', ' ');
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 250) throw new InvalidArgumentError('Write 1 to 250.');
  return limit;
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
