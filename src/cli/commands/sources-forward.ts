/** sources forward: the events of a source, sent on to a URL. */
import { Command } from 'commander';
import type { EndpointOut } from '../../api/index.ts';
import { isPosthornError, PosthornError } from '../../errors.ts';
import { createApiClient, describeIssue, type ServerAddress } from '../api-client.ts';
import { parseEventTypes, withServer } from '../dead-letter-options.ts';
import { printableRows } from '../describe-parts.ts';
import { examples } from '../examples.ts';
import { listedSource } from '../listed-source.ts';
import type { Terminal } from '../terminal.ts';
import type { ShownSource } from '../wire-source.ts';

interface ForwardFlags extends ServerAddress {
  readonly to: string;
  readonly uid?: string;
  readonly eventType?: readonly string[];
  readonly json?: true;
}

const OPTIONS: ReadonlyMap<string | undefined, string> = new Map([
  ['url', '--to'],
  ['uid', '--uid'],
  ['eventTypes', '--event-type'],
]);

export function forwardCommand(terminal: Terminal): Command {
  return withServer(new Command('forward'))
    .argument('<source>', 'by id or uid')
    .description(
      'Send the events of a source on to a URL: makes an endpoint of the source, and prints the secret that its receiver ' +
        'verifies with. Those of a source made with --pass-through go as they came, for the receiver to verify as the ' +
        "provider's.",
    )
    .requiredOption('--to <url>', 'where to, such as https://shop.example.com/webhooks')
    .option('--uid <name>', 'what the endpoint is called in other commands (its id without it)')
    .option('--event-type <types>', 'only these event types, separated by commas; may be given again', collectTypes)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['posthorn sources forward stripe --to https://shop.example.com/webhooks --uid shop', 'all of its events'],
        ['posthorn sources forward stripe --to https://mail.example.com/ --event-type invoice.paid', 'those of a type'],
      ),
    )
    .action(async (name: string, flags: ForwardFlags) => {
      const client = createApiClient(flags, terminal.env);
      const source = await listedSource(
        name,
        client.get<ShownSource>(`/ingest/api/v1/source/${encodeURIComponent(name)}`),
      );
      const endpoints = `/ingest/api/v1/source/${source.id}/endpoint`;
      const { to: url, uid, eventType: eventTypes } = flags;
      const made = await client
        .post<EndpointOut>(endpoints, { url, ...(uid !== undefined && { uid }), ...(eventTypes && { eventTypes }) })
        .catch(throwInOptions);
      const secret =
        source.forwardAs === 'pass-through'
          ? undefined
          : (await client.get<{ key: string }>(`${endpoints}/${made.id}/secret`)).key;
      if (flags.json) {
        return terminal.out(`${JSON.stringify({ ...made, ...(secret && { secret }) }, undefined, 2)}\n`);
      }
      terminal.out(describe(made, secret));
    });
}

function collectTypes(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...parseEventTypes(text).split(',')];
}

function describe({ id, uid, url, eventTypes }: EndpointOut, secret: string | undefined): string {
  return printableRows(
    [
      ['endpoint', uid === null ? id : `${uid} (${id})`],
      ['sends to', url],
      ['event types', eventTypes?.join(', ') ?? 'all'],
      ['secret', secret ?? "none: events go as they came, with the provider's signature"],
    ],
    '',
  );
}

/** What the API finds wrong, in the words of who wrote the command. */
function throwInOptions(error: unknown): never {
  if (!isPosthornError(error, 'validation') || error.issues.length === 0) throw error;
  const said = error.issues.map((issue) => {
    const option = OPTIONS.get(issue.loc[1]);
    return option === undefined ? describeIssue(issue) : `${option} ${issue.msg}`;
  });
  throw new PosthornError('validation', said.join('; '), { cause: error });
}
