/** events list, show and resend: what came in by a source or was published to an application. */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { LoggedDetailOut, LoggedOut } from '../../api/index.ts';
import { describeError, isPosthornError, PosthornError } from '../../errors.ts';
import { type ApiClient, createApiClient, pathPart, type ServerAddress } from '../api-client.ts';
import { filled, parseEventTypes, parseWhen, withServer } from '../dead-letter-options.ts';
import { bodyLines, describeAttempt, printableRows } from '../describe-parts.ts';
import { examples } from '../examples.ts';
import { createNames, type Names, withId } from '../names.ts';
import type { Terminal } from '../terminal.ts';
import { printable } from '../terminal-line.ts';
import type { Page } from '../wire-dead-letter.ts';

interface Flags extends ServerAddress {
  readonly source?: string;
  readonly application?: string;
  readonly json?: true;
}
interface ListFlags extends Flags {
  readonly limit: string;
  readonly iterator?: string;
  readonly eventType?: string;
  readonly since?: string;
  readonly until?: string;
}

export function eventsCommand(terminal: Terminal): Command {
  return new Command('events')
    .summary('look at what came in and went out, and send it again')
    .description(
      'Look at what came in by a source or was published to an application, and send it again. These commands talk to a ' +
        'running server: POSTHORN_URL (or --url) says where it is, POSTHORN_ADMIN_TOKEN (or --token) lets them in.',
    )
    .addHelpText(
      'after',
      examples(
        ['posthorn events list --source stripe', 'the newest first'],
        ['posthorn events show msg_…', 'body, headers, and each attempt'],
        ['posthorn events resend msg_… --to mine', 'the same id and bytes, signed anew'],
      ),
    )
    .addCommand(listCommand(terminal))
    .addCommand(showCommand(terminal))
    .addCommand(resendCommand(terminal));
}

function withOwner(command: Command): Command {
  return withServer(command)
    .addOption(new Option('--source <id>', 'of this source, by id or uid').argParser(filled).conflicts('application'))
    .option('--application <id>', 'of this application, by id or uid', filled)
    .option('--json', 'print JSON');
}

function listCommand(terminal: Terminal): Command {
  const when = (text: string) => parseWhen(text, terminal.clock);
  return withOwner(new Command('list'))
    .description('List the events of a source or an application, the newest first.')
    .option('--event-type <types>', 'only of these event types, separated by commas', parseEventTypes)
    .option('--since <when>', 'only what came since: 7d, 12h, or a date such as 2030-01-31', when)
    .option('--until <when>', 'only what came before: 1d, or a date', when)
    .option('--limit <number>', 'how many, 1 to 250', parseLimit, '50')
    .option('--iterator <id>', 'go on after this one')
    .action(async (flags: ListFlags, command: Command) => {
      const { source, application, limit, iterator } = flags;
      if (source === undefined && application === undefined) {
        command.error('error: say whose events: --source or --application');
      }
      const query = { source, application, limit, iterator, event_types: flags.eventType };
      const times = { after: flags.since, before: flags.until };
      const client = createApiClient(flags, terminal.env);
      const page = await client.get<Page<LoggedOut>>('message', { ...query, ...times });
      if (flags.json) return terminal.out(toJson(page));
      if (page.data.length === 0) return terminal.out('There are no events here.\n');
      const rows = page.data.map((each) => [
        ...[each.id, each.timestamp.slice(0, 19).replace('T', ' '), each.eventType, `${each.bytes}`],
        ...[describeCounts(each.deliveryCounts), `${each.eventId ?? ''}${each.conflicts > 0 ? ' *' : ''}`],
      ]);
      terminal.out(printableRows([['id', 'at', 'event type', 'bytes', 'deliveries', "the sender's id"], ...rows], ''));
      if (page.data.some(({ conflicts }) => conflicts > 0)) {
        terminal.out('\n* Its id came again with another body: the first is kept. `events show` says how often.\n');
      }
      if (!page.done) terminal.out(`\nThere are more: --iterator ${page.iterator}\n`);
    });
}

function showCommand(terminal: Terminal): Command {
  return withOwner(new Command('show'))
    .argument('<id>', "an event: msg_…, or with its owner the sender's id")
    .description('Show an event: its body and headers, and what became of it at each destination.')
    .action(async (id: string, flags: Flags) => {
      const client = createApiClient(flags, terminal.env);
      const shown = await find(client, id, flags);
      terminal.out(flags.json ? toJson(shown) : await describe(shown, createNames(client)));
    });
}

function resendCommand(terminal: Terminal): Command {
  return withOwner(new Command('resend'))
    .argument('<id>', "an event: msg_…, or with its owner the sender's id")
    .description('Send an event again: the same id and bytes, a fresh timestamp and signature, a full new schedule.')
    .option(
      '--to <destination>',
      'only to this endpoint (id or uid) or handler (its name), even if it never got it',
      filled,
    )
    .action(async (id: string, flags: Flags & { to?: string }) => {
      const client = createApiClient(flags, terminal.env);
      const event = await find(client, id, flags);
      const destinations = flags.to === undefined ? [...new Set(event.deliveries.map(endpointOf))] : [flags.to];
      if (destinations.length === 0) {
        throw new PosthornError(
          'not_found',
          'This event was for nobody. --to names an endpoint or handler to send it to',
        );
      }
      const results: { destination: string; result: string }[] = [];
      for (const destination of destinations) {
        // One that was deleted since must not keep the others from it; one that was named is an error.
        const result = await resend(client, event, destination).catch((error: unknown) => {
          if (flags.to !== undefined || !isPosthornError(error)) throw error;
          return describeError(error);
        });
        results.push({ destination, result });
      }
      if (flags.json) return terminal.out(toJson({ id: event.id, data: results }));
      const rows = results.map(({ destination, result }) => [destination, result]);
      terminal.out(printableRows([['destination', ''], ...rows], ''));
    });
}

const endpointOf = ({ endpointId }: { readonly endpointId: string }) => endpointId;

async function find(client: ApiClient, id: string, { source, application }: Flags): Promise<LoggedDetailOut> {
  return client.get(`message/${pathPart(id)}`, { source, application });
}

async function resend(client: ApiClient, event: LoggedDetailOut, destination: string): Promise<string> {
  const to = async (name: string) => {
    const path = `app/${event.applicationId}/msg/${event.id}/endpoint/${pathPart(name)}/resend`;
    await client.post(path, {});
    return 'is being sent again';
  };
  try {
    return await to(destination);
  } catch (error) {
    // A handler is known to people by its name; the store keeps it under a uid that no endpoint can have by accident.
    const isHandler = event.applicationId.startsWith('src_') && isPosthornError(error, 'not_found');
    if (!isHandler) throw error;
    return await to(`handler:${destination}`).catch(() => {
      throw error;
    });
  }
}

async function describe(event: LoggedDetailOut, names: Names): Promise<string> {
  const { applicationId } = event;
  const facts = [
    ['owner', withId(await names.owner(applicationId), applicationId)],
    ['event type', event.eventType],
    ["sender's id", event.eventId ?? ''],
    ...(event.conflicts > 0 ? [['conflicts', describeConflicts(event.conflicts)]] : []),
    ['at', event.timestamp],
    ['content type', event.contentType ?? 'application/json'],
  ];
  const headers = Object.entries(event.headers ?? {}).map(([name, value]) => [`${name}:`, value]);
  const deliveries = await Promise.all(
    event.deliveries.map(async ({ id, endpointId, state, reason, attempts }) => {
      const endpoint = withId(await names.endpoint(applicationId, endpointId), endpointId);
      const line = printable(`delivery ${id} to ${endpoint}: ${state}, ${reason}`);
      return `${line}\n${printableRows(attempts.map(describeAttempt))}`;
    }),
  );
  return [
    `${event.id}\n${printableRows(facts)}`,
    ...(headers.length === 0 ? [] : [`headers\n${printableRows(headers)}`]),
    `body${event.bodyEncoding === 'base64' ? ' (base64)' : ''}\n${bodyLines(event.body)}`,
    ...(deliveries.length === 0 ? ['It was for nobody.\n'] : deliveries),
  ].join('\n');
}

/** `2 delivered, 1 dead`. */
function describeCounts(counts: LoggedOut['deliveryCounts']): string {
  const parts = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
  return parts.join(', ') || 'for nobody';
}

function describeConflicts(count: number): string {
  const times = count === 1 ? 'once' : `${count} times`;
  return `its id came again ${times} with another body; this is the first, the only one that is kept`;
}

function parseLimit(text: string): string {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 250) throw new InvalidArgumentError('Write 1 to 250.');
  return text;
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
