/** sources: where other people's webhooks come in. */
import { isDeepStrictEqual } from 'node:util';
import { Command, Option } from 'commander';
import { isPosthornError, PosthornError } from '../../errors.ts';
import type { Dedupe, OnUnknownEvent } from '../../model/index.ts';
import { createApiClient, pathPart, type ServerAddress } from '../api-client.ts';
import { withServer } from '../dead-letter-options.ts';
import { dedupeText, parseDedupe } from '../dedupe-option.ts';
import { printableRows } from '../describe-parts.ts';
import { examples } from '../examples.ts';
import { throwInOptions } from '../in-options.ts';
import { listedSource } from '../listed-source.ts';
import { collect, readSettings, SECRET_VARIABLE, type SettingFlags } from '../provider-settings.ts';
import type { Terminal } from '../terminal.ts';
import { printable } from '../terminal-line.ts';
import type { Page } from '../wire-dead-letter.ts';
import { type ShownSource, shownUrl } from '../wire-source.ts';
import { forwardCommand } from './sources-forward.ts';

interface Flags extends ServerAddress {
  readonly json?: true;
}
interface CreateFlags extends Flags, SettingFlags {
  readonly uid?: string;
  readonly name?: string;
  readonly policy?: string;
  readonly onUnknownEvent?: OnUnknownEvent;
  readonly dedupe?: Dedupe;
  readonly passThrough?: true;
  readonly ifMissing?: true;
}

const LIST = '/ingest/api/v1/source';
const one = (source: string) => `${LIST}/${pathPart(source)}`;

export function sourcesCommand(terminal: Terminal): Command {
  return new Command('sources')
    .summary("create, show and delete the sources that other people's webhooks come in by")
    .description(
      "Create, show and delete the sources that other people's webhooks come in by. These commands talk to a running " +
        'server: POSTHORN_URL (or --url) says where it is, POSTHORN_ADMIN_TOKEN (or --token) lets them in. What they do ' +
        'not change, such as the policy of a source, its API does: PUT /ingest/api/v1/source/{source}.',
    )
    .addHelpText(
      'after',
      examples(
        ['posthorn sources create stripe --secret whsec_…', 'and enter its URL on the dashboard of Stripe'],
        ['posthorn sources forward stripe --to https://shop.example.com/webhooks', 'its events, signed anew'],
        ['posthorn sources rotate-secret stripe --secret whsec_…', 'the old secret works on until --drop-old'],
        ['posthorn sources rotate-token stripe', 'a URL that nobody can guess; the old one works on for 48 hours'],
      ),
    )
    .addCommand(listCommand(terminal))
    .addCommand(createCommand(terminal))
    .addCommand(showCommand(terminal))
    .addCommand(forwardCommand(terminal))
    .addCommand(deleteCommand(terminal))
    .addCommand(rotateSecretCommand(terminal))
    .addCommand(rotateTokenCommand(terminal));
}

function listCommand(terminal: Terminal): Command {
  return withServer(new Command('list'))
    .description('List sources and their receiving URLs.')
    .option('--json', 'print JSON')
    .action(async (flags: Flags) => {
      const client = createApiClient(flags, terminal.env);
      const sources: ShownSource[] = [];
      let iterator: string | undefined;
      do {
        const page: Page<ShownSource> = await client.get(LIST, { limit: '250', iterator });
        sources.push(...page.data);
        iterator = page.done ? undefined : (page.iterator ?? undefined);
      } while (iterator !== undefined);
      if (flags.json) return terminal.out(toJson({ data: sources }));
      if (sources.length === 0) return terminal.out('There are no sources: `posthorn sources create` makes one.\n');
      const rows = sources.map((each) => [each.uid ?? each.id, each.provider, shownUrl(each), each.warning ?? '']);
      terminal.out(printableRows([['source', 'provider', 'receiving URL', ''], ...rows], ''));
      if (sources.some(({ ingestUrl }) => isLocal(ingestUrl))) {
        terminal.out('\nProviders reach them by your public host name: POSTHORN_PUBLIC_URL shows them with it.\n');
      }
    });
}

function createCommand(terminal: Terminal): Command {
  return withServer(new Command('create'))
    .argument('<provider>', 'stripe, github, paypal, … (`posthorn trigger --list` shows all)')
    .description('Create a source, and print the URL to enter at the provider.')
    .option('--uid <name>', 'what it is called in its URL (the name of the provider without it)')
    .option('--name <text>', 'a name for people')
    .option('--secret <secret>', `the secret that the provider signs with (${SECRET_VARIABLE})`)
    .option('--setting <name=value>', 'another setting of the provider; =@file reads a file', collect)
    .option('--policy <name>', 'what its destinations follow (payments-inbound without it)')
    .addOption(
      new Option('--on-unknown-event <what>', 'keep, ignore or reject what nobody is for (keep without it)').choices([
        'keep',
        'ignore',
        'reject',
      ]),
    )
    .option(
      '--dedupe <by>',
      "what tells copies of an event: provider, body, header:NAME or json:PATH (the provider's id without it)",
      parseDedupe,
    )
    .option('--pass-through', 'send events on with the headers that they came with, and not signed anew')
    .option('--if-missing', 'keep the one that is there, if it is of this provider')
    .option('--json', 'print JSON')
    .action(async (provider: string, flags: CreateFlags) => {
      const client = createApiClient(flags, terminal.env);
      const uid = flags.uid ?? provider;
      const existing = flags.ifMissing ? await orNone(client.get<ShownSource>(one(uid))) : undefined;
      if (existing !== undefined) await refuseAnother(existing, provider);
      const { policy, onUnknownEvent, dedupe, passThrough } = flags;
      const source =
        existing ??
        (await client
          .post<ShownSource>(LIST, {
            name: flags.name ?? uid,
            uid,
            type: provider,
            config: readSettings(flags, terminal.env),
            ...(policy !== undefined && { policy }),
            ...(onUnknownEvent !== undefined && { onUnknownEvent }),
            ...(dedupe !== undefined && { dedupe }),
            ...(passThrough && { forwardAs: 'pass-through' }),
          })
          .catch((error: unknown) => throwTaken(uid, error))
          .catch((error: unknown) => throwInOptions(provider, flags, error)));
      if (existing !== undefined) tellKept(terminal, existing, flags);
      terminal.out(flags.json ? toJson(source) : describe(source));
    });
}

function showCommand(terminal: Terminal): Command {
  return withServer(new Command('show'))
    .argument('<source>', 'by id or uid')
    .description('Show a source: its receiving URL, its settings without the secrets, and what works on from before.')
    .option('--json', 'print JSON')
    .action(async (name: string, flags: Flags) => {
      const source = await listedSource(name, createApiClient(flags, terminal.env).get<ShownSource>(one(name)));
      terminal.out(flags.json ? toJson(source) : describe(source));
    });
}

function deleteCommand(terminal: Terminal): Command {
  return withServer(new Command('delete'))
    .argument('<source>', 'by id or uid')
    .description('Delete a source with its endpoints and handlers. Deliveries that are under way are cancelled.')
    .option('--yes', 'it is meant')
    .action(async (name: string, flags: Flags & { yes?: true }) => {
      const client = createApiClient(flags, terminal.env);
      const url = shownUrl(await listedSource(name, client.get<ShownSource>(one(name))));
      if (!flags.yes) {
        const what = `${url} will take nothing any more, and what is not delivered is cancelled`;
        throw new PosthornError('validation', `Nothing was deleted: ${what}. Give --yes if you mean it`);
      }
      await client.delete(one(name));
      terminal.out(`Deleted: ${printable(url)} takes nothing any more.\n`);
    });
}

function rotateSecretCommand(terminal: Terminal): Command {
  return withServer(new Command('rotate-secret'))
    .argument('<source>', 'by id or uid')
    .description('Take a new secret. The one before is taken too until --drop-old, so that no event is refused.')
    .option('--secret <secret>', `the new secret, from the provider (${SECRET_VARIABLE})`)
    .option('--drop-old', 'take the new one alone')
    .option('--json', 'print JSON')
    .action(async (name: string, flags: Flags & SettingFlags & { dropOld?: true }) => {
      const secret = flags.secret ?? terminal.env[SECRET_VARIABLE] ?? '';
      if (secret === '') throw new PosthornError('validation', `Give --secret, or set ${SECRET_VARIABLE}`);
      const body = { secret, dropOld: flags.dropOld === true };
      const client = createApiClient(flags, terminal.env);
      const source = await listedSource(name, client.post<ShownSource>(`${one(name)}/secret/rotate`, body));
      if (flags.json) return terminal.out(toJson(source));
      const old = flags.dropOld
        ? 'The one before is taken no more.'
        : 'The one before is taken too; --drop-old ends it.';
      terminal.out(`The new secret is taken. ${old}\n`);
    });
}

function rotateTokenCommand(terminal: Terminal): Command {
  return withServer(new Command('rotate-token'))
    .argument('<source>', 'by id or uid')
    .description(
      'Give the receiving URL a new token, and print it to be entered at the provider. The URL before, with a token or ' +
        'without, is taken too for 48 hours, unless --drop-old.',
    )
    .option('--drop-old', 'take the new URL alone, from now on')
    .option('--json', 'print JSON')
    .action(async (name: string, flags: Flags & { dropOld?: true }) => {
      const client = createApiClient(flags, terminal.env);
      const body = { dropOld: flags.dropOld === true };
      const made = await listedSource(name, client.post<{ ingestUrl: string }>(`${one(name)}/token/rotate`, body));
      if (flags.json) return terminal.out(toJson(made));
      const old = flags.dropOld ? 'no other URL is taken any more.' : 'the URL before is taken for 48 more hours.';
      terminal.out(`${printable(made.ingestUrl)}\nEnter it at the provider: ${old}\n`);
    });
}

function describe(source: ShownSource): string {
  const settings = Object.entries(source.config).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]);
  return printableRows(
    [
      ['source', source.uid === null ? source.id : `${source.uid} (${source.id})`],
      ['provider', source.provider],
      ['receiving URL', shownUrl(source)],
      ...fromOutside(source.ingestUrl),
      ...formerly(source),
      ['policy', typeof source.policy === 'string' ? source.policy : JSON.stringify(source.policy)],
      ['unknown events', source.onUnknownEvent],
      ['copies told by', dedupeText(source.dedupe)],
      ['forwards', source.forwardAs],
      ...settings,
      ...(source.warning === null ? [] : [['warning', source.warning]]),
    ],
    '',
  );
}

/** What a rotation left working, and until when. */
function formerly({ formerUrls = [], formerSecrets = 0, uid, id }: ShownSource): string[][] {
  const urls = formerUrls.map(({ hasToken, expiresAt }) => [
    'former URL',
    `${hasToken ? 'with another token' : 'without a token'}: works until ${expiresAt}`,
  ]);
  const drop = `\`posthorn sources rotate-secret ${uid ?? id} --secret … --drop-old\` (with the secret that stays)`;
  const [noun, verb] = formerSecrets === 1 ? ['former secret', 'works'] : ['former secrets', 'work'];
  return formerSecrets === 0 ? urls : [...urls, [noun, `${formerSecrets} ${verb} until ${drop}`]];
}

/** No provider can send to this machine's own name for itself. */
function fromOutside(ingestUrl: string | null): string[][] {
  if (ingestUrl === null || !isLocal(ingestUrl)) return [];
  const url = `https://<your host>${new URL(ingestUrl).pathname}`;
  return [['', `reachable from outside as ${url}; POSTHORN_PUBLIC_URL puts your host here`]];
}

function isLocal(url: string | null): boolean {
  if (url === null) return false;
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}

/** What is there verifies nothing as another provider signs it. */
async function refuseAnother({ uid, id, provider }: ShownSource, type: string): Promise<void> {
  if (type === provider) return;
  // Loaded here, so that what goes well does not wait for all the rules.
  const { providerOfType } = await import('../../api/index.ts');
  const { findProvider } = await import('../../inbound/providers/index.ts');
  const wanted = providerOfType(type);
  const { name } = findProvider(wanted);
  // clerk is verified as standard-webhooks is. So is resend, but with the secrets of another service.
  const isSame = wanted === provider || (findProvider(provider).name === name && [wanted, provider].includes(name));
  if (isSame) return;
  const source = uid ?? id;
  throw new PosthornError(
    'conflict',
    `The source ${JSON.stringify(source)} already exists and is of ${provider}: what ${type} sends would not be verified ` +
      `as it should. --uid makes another one; \`posthorn sources delete ${source}\` removes this one`,
  );
}

/** Who gave a new secret must not go away thinking that it is taken. Beside what is printed, which programs read. */
function tellKept({ err }: Terminal, kept: ShownSource, flags: CreateFlags): void {
  const { uid, id, policy, onUnknownEvent, dedupe, forwardAs } = kept;
  const given = [
    ...(flags.secret === undefined ? [] : ['--secret']),
    ...(flags.setting === undefined ? [] : ['--setting']),
    ...(flags.policy === undefined || flags.policy === policy ? [] : ['--policy']),
    ...(flags.onUnknownEvent === undefined || flags.onUnknownEvent === onUnknownEvent ? [] : ['--on-unknown-event']),
    ...(flags.dedupe === undefined || isDeepStrictEqual(flags.dedupe, dedupe) ? [] : ['--dedupe']),
    ...(flags.passThrough === undefined || forwardAs === 'pass-through' ? [] : ['--pass-through']),
  ];
  if (given.length === 0) return;
  const source = uid ?? id;
  const verb = given.length === 1 ? 'was' : 'were';
  const rotate =
    flags.secret === undefined ? '' : `. \`posthorn sources rotate-secret ${source} --secret …\` takes one`;
  err(`${source} was there already and is kept as it is: ${given.join(', ')} ${verb} not taken${rotate}.\n`);
}

function throwTaken(uid: string, error: unknown): never {
  if (!isPosthornError(error, 'conflict')) throw error;
  throw new PosthornError(
    'conflict',
    `The source ${JSON.stringify(uid)} already exists. --if-missing keeps it as it is; ` +
      `\`posthorn sources rotate-secret ${uid} --secret …\` gives it a new secret; --uid makes another one`,
    { cause: error },
  );
}

async function orNone<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (isPosthornError(error, 'not_found')) return undefined;
    throw error;
  }
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
