/** Which dead letters, from the command line to the API: as a query and as a body. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Clock } from '../clock.ts';
import { parseIsoTime } from '../iso-time.ts';
import type { Query, ServerAddress } from './api-client.ts';
import { parseDuration } from './duration.ts';

export interface FilterFlags extends ServerAddress {
  readonly application?: string;
  readonly source?: string;
  readonly endpoint?: string;
  readonly eventType?: string;
  readonly cause?: string;
  readonly fingerprint?: string;
  readonly error?: string;
  readonly group?: string;
  readonly since?: string;
  readonly until?: string;
  readonly json?: true;
}

export function withServer(command: Command): Command {
  return command
    .option('--url <url>', 'where the server is (POSTHORN_URL, or http://127.0.0.1:8420)')
    .option('--token <token>', 'an API token (POSTHORN_ADMIN_TOKEN)');
}

/** Whose, and when they died. */
export function withOwner(command: Command, clock: Clock): Command {
  const when = (text: string) => parseWhen(text, clock);
  return withServer(command)
    .option('--application <id>', 'only of this application, by id or uid', filled)
    .option('--source <id>', 'only of this source, by id or uid', filled)
    .option('--since <when>', 'only what died since: 7d, 12h, or a date such as 2030-01-31', when)
    .option('--until <when>', 'only what died before: 1d, or a date', when);
}

export function withFilter(command: Command, clock: Clock): Command {
  return withOwner(command, clock)
    .option('--group <id>', 'only of this group, as `groups` shows it', filled)
    .option('--endpoint <id>', 'only for this endpoint; by uid with --application or --source', filled)
    .option('--event-type <types>', 'only of these event types, separated by commas', parseEventTypes)
    .addOption(new Option('--cause <cause>', 'only those that died of this').choices(['exhausted', 'rejected']))
    .option('--fingerprint <hash>', 'only of this error fingerprint', filled)
    .option('--error <text>', 'only with this text in the error', filled);
}

export function toQuery(flags: FilterFlags): Query {
  const { application, source, endpoint, cause, fingerprint, error, group } = flags;
  const died = { died_after: flags.since, died_before: flags.until };
  return { application, source, endpoint, cause, fingerprint, error, group, event_types: flags.eventType, ...died };
}

export function toSelection(flags: FilterFlags): Record<string, unknown> {
  const { application, source, endpoint, cause, fingerprint, error, group } = flags;
  const fields = {
    ...{ application, source, endpoint, cause, fingerprint, error, group },
    eventTypes: flags.eventType?.split(','),
    diedAfter: flags.since,
    diedBefore: flags.until,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** A time ago, or a date, as the API reads it. */
export function parseWhen(text: string, clock: Clock): string {
  if (/^[\d.]+(ms|s|m|h|d)/.test(text)) return new Date(clock.now() - parseDuration(text)).toISOString();
  const at = parseIsoTime(text);
  if (at !== undefined) return new Date(at).toISOString();
  const isBare = /^\s*\d+\s*$/.test(text);
  throw new InvalidArgumentError(
    isBare
      ? `Write its unit (${text.trim()}d, ${text.trim()}h, ${text.trim()}m), or a date (2030-01-31).`
      : 'Write a time ago (7d, 12h) or a date that exists (2030-01-31, 2030-01-31T12:00:00Z).',
  );
}

/** What a variable that nobody set leaves would select everything. */
export function filled(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('It is empty: is a variable not set? Leave it out, or give it a value.');
}

/** As the API takes them: no spaces, none of them empty. */
export function parseEventTypes(text: string): string {
  return text
    .split(',')
    .map((type) => filled(type).trim())
    .join(',');
}
