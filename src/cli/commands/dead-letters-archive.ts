/** dead-letters archive and restore: out to a file of JSON lines and back, a piece at a time. */
import { type FileHandle, open } from 'node:fs/promises';
import { Command } from 'commander';
import { describeError, isPosthornError, PosthornError } from '../../errors.ts';
import type { Purged, Restored } from '../../resources/index.ts';
import { type ApiClient, createApiClient, type ServerAddress } from '../api-client.ts';
import { type FilterFlags, toQuery, withFilter, withServer } from '../dead-letter-options.ts';
import { progressBar } from '../progress-bar.ts';
import type { Terminal } from '../terminal.ts';
import { printable } from '../terminal-line.ts';

const LINES_AT_ONCE = 200;
const CHARACTERS_AT_ONCE = 1_000_000;
const WHY_NOT_OPEN: Readonly<Record<string, string>> = {
  EEXIST: 'there is such a file already, and no archive is written over; name another',
  ENOENT: 'there is no such file or folder',
  EACCES: 'this user may not',
  EISDIR: 'it is a folder',
};

export function archiveCommand(terminal: Terminal): Command {
  return withFilter(new Command('archive'), terminal.clock)
    .description('Write dead letters to a new file, one line of JSON each: body, headers and attempts included.')
    .requiredOption('--file <path>', 'the file to write; it must not exist')
    .option('--remove', 'delete each from the server once it is safe in the file')
    .option('--json', 'print JSON')
    .action(async (flags: FilterFlags & { file: string; remove?: true }) => {
      const client = createApiClient(flags, terminal.env);
      const bar = progressBar(terminal, undefined);
      const sum = { archived: 0, removed: 0, kept: [] as Purged['kept'][number][] };
      const pieces = inPieces(linesOf(await client.stream('dead-letter/archive', toQuery(flags))));
      // For its owner only: it holds customers' events.
      const file = await open(flags.file, 'wx', 0o600).catch((cause) => cannotOpen(flags.file, cause));
      try {
        for await (const lines of pieces) {
          await write(file, lines);
          sum.archived += lines.length;
          if (flags.remove) {
            const { count, kept } = await remove(client, lines);
            sum.removed += count;
            sum.kept.push(...kept);
          }
          bar.add(lines.length);
        }
      } finally {
        await file.close();
      }
      bar.end();
      if (flags.json) return terminal.out(`${JSON.stringify(sum)}\n`);
      const removed = flags.remove ? `, and ${sum.removed} deleted from the server` : '';
      terminal.out(`${sum.archived} written to ${flags.file}${removed}.\n`);
      for (const { id, reason } of sum.kept) {
        terminal.out(`${printable(`${id} stays: ${reason}`)}. Its line in the file is out of date.\n`);
      }
    });
}

export function restoreCommand(terminal: Terminal, fail: () => void): Command {
  return withServer(new Command('restore'))
    .argument('<file>', 'a file that `archive` wrote')
    .description('Bring dead letters back from an archive. What is there already stays as it is: twice does no harm.')
    .option('--json', 'print JSON')
    .action(async (path: string, flags: ServerAddress & { json?: true }) => {
      const client = createApiClient(flags, terminal.env);
      const file = await open(path).catch((cause) => cannotOpen(path, cause));
      const bar = progressBar(terminal, undefined);
      const sum = { restored: 0, exists: 0, missing: 0, conflict: 0 };
      let before = 0;
      for await (const lines of inPieces(linesOf(file.createReadStream({ encoding: 'utf8' })))) {
        const counts = await client.postLines<Restored>('dead-letter/restore', lines.join('\n')).catch((cause) => {
          throw refused(cause, path, before, lines.length);
        });
        for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += counts[key];
        before += lines.length;
        bar.add(lines.length);
      }
      bar.end();
      if (sum.missing + sum.conflict > 0) fail();
      if (flags.json) return terminal.out(`${JSON.stringify(sum)}\n`);
      const also = [
        ...(sum.exists > 0 ? [`${sum.exists} were there already`] : []),
        ...(sum.missing > 0
          ? [`${sum.missing} belong to an application or source that is gone (one of the same name is another)`]
          : []),
        ...(sum.conflict > 0 ? [`of ${sum.conflict} the event id is taken`] : []),
      ];
      terminal.out(`${[`${sum.restored} restored`, ...also].join(', ')}.\n`);
    });
}

/** The server counts the lines of one request, from 0; who reads the file counts all of them, from 1. */
function refused(cause: unknown, path: string, before: number, count: number): PosthornError {
  const [issue] = isPosthornError(cause) ? cause.issues : [];
  const [, place = '', ...rest] = issue?.loc ?? [];
  const [, index] = /^\[(\d+)\]$/.exec(place) ?? [];
  const where =
    index === undefined || issue === undefined
      ? `In lines ${before + 1} to ${before + count} of ${path}: ${describeError(cause)}`
      : `Line ${before + Number(index) + 1} of ${path}: ${[rest.join('.'), issue.msg].join(' ').trim()}`;
  return new PosthornError('validation', printable(where), { cause });
}

/** On disk before anything is deleted. */
async function write(file: FileHandle, lines: readonly string[]): Promise<void> {
  await file.appendFile(`${lines.join('\n')}\n`);
  await file.sync();
}

/** What somebody retried since its line was read stays. */
function remove(client: ApiClient, lines: readonly string[]): Promise<Purged> {
  const letters = lines.map((line) => {
    const { id, updatedAt } = (JSON.parse(line) as { delivery: { id: string; updatedAt: number } }).delivery;
    return { id, updatedAt };
  });
  return client.post<Purged>('dead-letter/purge', { letters });
}

/** At line feeds alone: `readLines` may end a line at a separator inside a text, too (U+2028, from Node.js 24 on). */
async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of texts) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** Lines together, up to a number and a size. */
async function* inPieces(lines: AsyncIterable<string>): AsyncGenerator<string[]> {
  let piece: string[] = [];
  let characters = 0;
  for await (const line of lines) {
    if (piece.length > 0 && (piece.length === LINES_AT_ONCE || characters + line.length > CHARACTERS_AT_ONCE)) {
      yield piece;
      [piece, characters] = [[], 0];
    }
    piece.push(line);
    characters += line.length;
  }
  if (piece.length > 0) yield piece;
}

function cannotOpen(path: string, cause: unknown): never {
  const why = WHY_NOT_OPEN[(cause as NodeJS.ErrnoException).code ?? ''] ?? describeError(cause);
  throw new PosthornError('validation', `Cannot open ${path}: ${why}`, { cause });
}
