import { Command, InvalidArgumentError } from 'commander';
import { floorId } from '../../ids.ts';
import { createApiClient, pathPart, type ServerAddress } from '../api-client.ts';
import { filled, parseWhen, withServer } from '../dead-letter-options.ts';
import { EventReplay, type Shown } from '../event-replay.ts';
import { examples } from '../examples.ts';
import { exchange } from '../exchange.ts';
import { followEvents, placeOfNow } from '../follow-events.ts';
import { ownTarget } from '../own-target.ts';
import { readKeys } from '../read-keys.ts';
import { stayAlive } from '../stay-alive.ts';
import { stopSignals } from '../stop-signals.ts';
import type { Terminal } from '../terminal.ts';
import { printable, terminalLine } from '../terminal-line.ts';
import type { ShownSource } from '../wire-source.ts';

interface ListenFlags extends ServerAddress {
  readonly source: string;
  readonly forward?: string;
  readonly since?: string;
  readonly count?: number;
  readonly allowRemote?: true;
  readonly json?: true;
}

export function listenCommand(terminal: Terminal): Command {
  return withServer(new Command('listen'))
    .summary('show the events of a source as they come, and forward them to your app')
    .description(
      'Show the events of a source as they come, and forward each to your app with the headers and bytes that it came ' +
        'with, so that the app can check the signature itself. Keys: r sends the last one again, a number and Enter that ' +
        'one, q ends. Nothing is forwarded to another machine than this one without --allow-remote.',
    )
    .requiredOption('--source <id>', 'the source, by id or uid', filled)
    .option('--forward <url>', 'where to, such as http://localhost:3000/webhooks')
    .option('--since <when>', 'begin with what came since: 10m, 2h, or a date', (text) =>
      parseWhen(text, terminal.clock),
    )
    .option('--count <number>', 'end after so many', parseCount)
    .option('--allow-remote', 'forward to another machine')
    .option('--json', 'print JSON, one line for each')
    .addHelpText(
      'after',
      examples(
        ['posthorn listen --source stripe --forward http://localhost:3000/webhooks', 'while you write the app'],
        ['posthorn listen --source stripe --since 1h --count 1 --json', 'the first one of the last hour'],
      ),
    )
    .action((flags: ListenFlags) => listen(flags, terminal));
}

async function listen(flags: ListenFlags, terminal: Terminal): Promise<void> {
  const { clock, keyboard } = terminal;
  const { forward, since } = flags;
  const target = forward === undefined ? undefined : ownTarget(forward, '--forward', flags.allowRemote === true);
  const client = createApiClient(flags, terminal.env);
  const source = await client.get<ShownSource>(`/ingest/api/v1/source/${pathPart(flags.source)}`);
  const after = since === undefined ? await placeOfNow(client, source.id) : floorId('msg', Date.parse(since));
  const stop = new AbortController();
  const replay = new EventReplay({
    target,
    send: (outgoing) => exchange({ ...outgoing, signal: stop.signal }, clock),
    show: (shown) => terminal.out(flags.json ? jsonLine(shown) : line(shown, clock.now())),
  });

  const letGo = stayAlive();
  const signals = stopSignals(clock);
  void signals.first.then(() => stop.abort());
  const hasKeys = keyboard?.isTTY === true;
  const forget = hasKeys ? readKeys(keyboard, keysOf(replay, stop, terminal)) : () => {};
  if (!flags.json) announce(source, target, hasKeys, terminal);
  try {
    const events = followEvents(client, {
      source: source.id,
      after,
      clock,
      signal: stop.signal,
      onConnection: (lost) => terminal.err(lost === undefined ? 'The server answers again.\n' : `${lost}; waiting.\n`),
    });
    for await (const event of events) {
      await replay.take(event);
      if (replay.count === flags.count || stop.signal.aborted) break;
    }
  } finally {
    forget();
    signals.forget();
    letGo();
  }
}

function keysOf(replay: EventReplay, stop: AbortController, { out, err }: Terminal) {
  return {
    onReplay: (which: number | 'last') => {
      if (replay.again(which)) return;
      err(which === 'last' ? 'Nothing has come yet.\n' : `There is no ${which} here.\n`);
    },
    onQuit: () => stop.abort(),
    echo: out,
  };
}

function announce(source: ShownSource, target: URL | undefined, hasKeys: boolean, { out }: Terminal): void {
  const where = target === undefined ? '' : `, forwarded to ${target.href}`;
  out(`${printable(`Events of ${source.ingestUrl ?? source.uid ?? source.id}${where}.`)}\n`);
  if (source.onUnknownEvent !== 'keep') {
    out(
      `Only events that an endpoint or handler is for are kept and shown: the source is set to ${source.onUnknownEvent} others.\n`,
    );
  }
  out(hasKeys ? 'r sends the last one again, a number and Enter that one, q ends.\n' : 'Ctrl-C ends.\n');
}

function line({ number, event, again, answer }: Shown, now: number): string {
  const parts = [`#${number}${again ? ' again' : ''}`, event.eventType, event.id];
  if (answer === undefined) return terminalLine(now, ...parts);
  const result = 'error' in answer ? answer.error : String(answer.status);
  return terminalLine(now, ...parts, '→', result, `${answer.durationMs} ms`);
}

function jsonLine({ number, event, again, answer }: Shown): string {
  return `${JSON.stringify({ number, again, event, answer: answer ?? null })}\n`;
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('Write a number, 1 or more.');
  return count;
}
