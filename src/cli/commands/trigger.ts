import { Command, InvalidArgumentError, Option } from 'commander';
import { PosthornError } from '../../errors.ts';
import { createIds } from '../../ids.ts';
import type { InboundRequest, Provider, ProviderSettings } from '../../inbound/providers/index.ts';
import { createApiClient, pathPart, type ServerAddress, serverUrl } from '../api-client.ts';
import { withServer } from '../dead-letter-options.ts';
import { examples } from '../examples.ts';
import { type Exchanged, exchange } from '../exchange.ts';
import type { EventOrder } from '../make-event.ts';
import { ownTarget } from '../own-target.ts';
import { collect, readSettings, type SettingFlags } from '../provider-settings.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { printable } from '../terminal-line.ts';
import { ownPath, type ShownSource } from '../wire-source.ts';

interface TriggerFlags extends ServerAddress, SettingFlags {
  readonly source?: string;
  readonly to?: string;
  readonly set?: readonly string[];
  readonly count: number;
  readonly allowRemote?: true;
  readonly list?: true;
  readonly json?: true;
}

const HINTS: Readonly<Record<number, string>> = {
  400: "It was verified, and is no event of the kind that the source takes: the server's log says why; --set changes a field.",
  401:
    'It was not verified: most often the secret is not the one that the receiver has (--secret gives another), or the ' +
    "source is of another provider. The server's log says why.",
  404:
    'There is nothing at this URL: `posthorn sources create` makes a source, --source or --to names another place. A URL ' +
    'with a token of its own is found with POSTHORN_ADMIN_TOKEN.',
};

export function triggerCommand(terminal: Terminal, fail: () => void): Command {
  return withServer(new Command('trigger'))
    .argument('[provider]', 'stripe, github, paypal, …')
    .argument('[event type]', 'invoice.paid, push, …')
    .summary("send a provider's event, realistic and signed, to a source or to your app")
    .description(
      "Send a provider's event, realistic and signed, to a source of a running server, or straight to an app of yours. " +
        'Secrets are never read from the server: give --secret or set POSTHORN_SOURCE_SECRET. With a token, the other ' +
        'settings of the source are. Nothing is sent to another machine than this one without --allow-remote.',
    )
    .option('--source <id>', 'the source to send to, by id or uid (the name of the provider without it)')
    .addOption(new Option('--to <url>', 'send straight to this URL, such as an app in development').conflicts('source'))
    .option('--secret <secret>', "the provider's secret (POSTHORN_SOURCE_SECRET)")
    .option('--setting <name=value>', 'another setting of the provider; =@file reads a file', collect)
    .option('--set <path=value>', 'change a field of the event: data.object.amount_paid=500', collect)
    .option('--count <number>', 'send so many, each with an id of its own', parseCount, 1)
    .option('--allow-remote', 'send to another machine')
    .option('--list', 'list providers and event types, and send nothing')
    .option('--json', 'print JSON, one line for each')
    .addHelpText(
      'after',
      examples(
        ['posthorn trigger --list', 'what there is'],
        ['posthorn trigger stripe invoice.paid --secret whsec_…', 'to the source "stripe"'],
        ['posthorn trigger github push --secret s --to http://localhost:3000/webhooks', 'to your app'],
        ['posthorn trigger stripe invoice.paid --set data.object.amount_paid=500', 'with a field of its own'],
      ),
    )
    .action(async (name: string | undefined, eventType: string | undefined, flags: TriggerFlags, command: Command) => {
      if (flags.list) return terminal.out(await listing(name, flags));
      if (name === undefined || eventType === undefined) {
        command.error('error: name a provider and an event type; --list shows which there are');
      }
      const order = await orderOf(name ?? '', eventType ?? '', flags, terminal);
      const { makeEvent, typeOf } = await import('../make-event.ts');
      const ids = createIds(() => terminal.clock.now());
      for (let n = 0; n < flags.count; n++) {
        const request = makeEvent(order, terminal.clock.now(), ids.next('msg').slice('msg_'.length));
        const { headers, body } = request;
        const answer = await exchange({ url: new URL(request.url), headers, body }, terminal.clock);
        const sent = { provider: order.provider.name, eventType: typeOf(order, request) };
        terminal.out(flags.json ? jsonLine(sent, request, answer) : line(sent, order.url, answer));
        if ('status' in answer && answer.status < 300) continue;
        fail();
        const hint = 'status' in answer ? HINTS[answer.status] : undefined;
        if (hint !== undefined) terminal.err(`${hint}\n`);
        return;
      }
    });
}

async function orderOf(name: string, eventType: string, flags: TriggerFlags, terminal: Terminal): Promise<EventOrder> {
  // Loaded here, so that the other commands do not wait for all the providers.
  const { checkOrder, signingSettings } = await import('../make-event.ts');
  const provider = checkOrder(name, eventType);
  const source = flags.source ?? provider.name;
  const server = serverUrl(flags, terminal.env);
  const target = (place: string) =>
    ownTarget(place, flags.to === undefined ? '--url' : '--to', flags.allowRemote === true);
  // Refused before the server is asked for anything.
  const plain = target(flags.to ?? `${server}/in/${pathPart(source)}`);
  const known = flags.to === undefined ? await knownSource(source, flags, terminal) : undefined;
  const url = known === undefined ? plain : target(server + ownPath(known));
  const shown = known === undefined ? {} : shownSettings(known, provider);
  const { settings, missing } = signingSettings(provider, { ...shown, ...readSettings(flags, terminal.env) });
  // A source that verifies nothing is where to try what nobody else can sign.
  if (missing !== undefined && known?.provider !== 'none') throw new PosthornError('validation', missing);
  return { provider, eventType, settings, isSigned: missing === undefined, url, fields: flags.set ?? [] };
}

/** What the server shows of the source to whoever has a token: where it receives and how it signs, never with what. */
async function knownSource(source: string, flags: TriggerFlags, { env }: Terminal): Promise<ShownSource | undefined> {
  if (!(flags.token ?? env.POSTHORN_ADMIN_TOKEN)) return undefined;
  const path = `/ingest/api/v1/source/${pathPart(source)}`;
  return createApiClient(flags, env).get<ShownSource>(path);
}

function shownSettings({ config }: ShownSource, provider: Provider): ProviderSettings {
  const known = Object.entries(config).filter(([name]) => name in provider.settings);
  return Object.fromEntries(known.filter((entry): entry is [string, string | string[]] => entry[1] !== null));
}

interface Sent {
  readonly provider: string;
  readonly eventType: string;
}

function line({ eventType }: Sent, url: URL, answer: Exchanged): string {
  const result = 'error' in answer ? answer.error : `${answer.status}  ${answer.durationMs} ms  ${answer.body}`;
  return `${printable(`${eventType} → ${url.href}  ${result}`)}\n`;
}

function jsonLine(about: Sent, request: InboundRequest, answer: Exchanged): string {
  const { url, headers } = request;
  const sent = { url, headers, body: Buffer.from(request.body).toString('utf8') };
  return `${JSON.stringify({ ...about, sent, answer })}\n`;
}

async function listing(name: string | undefined, { json }: TriggerFlags): Promise<string> {
  const { findProvider, PROVIDERS } = await import('../../inbound/providers/index.ts');
  const listed = name === undefined ? PROVIDERS : [findProvider(name)];
  if (json) {
    const all = listed.map((each) => ({ provider: each.name, title: each.title, eventTypes: each.sampleTypes }));
    return `${JSON.stringify({ data: all }, undefined, 2)}\n`;
  }
  const rows = listed.map((each) => [each.name, each.sampleTypes.join(', ')]);
  return table([['provider', 'event types'], ...rows], '');
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 10_000) throw new InvalidArgumentError('Write 1 to 10000.');
  return count;
}
