/** migrate: everything from a SQLite file into an empty PostgreSQL schema, checked at the end. */
import { Command, InvalidArgumentError } from 'commander';
import { loadConfig, parseStoreUrl, type StoreLocation, withoutPassword } from '../../config/index.ts';
import { PosthornError } from '../../errors.ts';
import { formatDuration } from '../../policy/index.ts';
import { createSecretBox } from '../../signing/index.ts';
import { type Checksum, TRANSFER_TABLES, type TransferSource, transfer } from '../../store/index.ts';
import { examples } from '../examples.ts';
import { progressBar } from '../progress-bar.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';

const BYTES_AT_ONCE = 4_000_000;
const LINE_EVERY_MS = 5000;
/** Moving and checking: 310,000 rows took 89 s on two cores with a load of ten, both stores on one disk, 2026-11-16. */
const USUAL_ROWS_A_SECOND = 3500;

interface Flags {
  readonly from: string;
  readonly to: string;
  readonly dryRun?: true;
  readonly batch: number;
}

export function migrateCommand(terminal: Terminal): Command {
  return new Command('migrate')
    .summary('move everything from a SQLite file to PostgreSQL')
    .description(
      'Move everything from a SQLite file into an empty PostgreSQL schema. No server may run on either. A run that was ' +
        'stopped goes on where it was when it is started again. At the end, rows and checksums of both sides are compared; ' +
        'until then no server starts on the target. The file is only read. POSTHORN_SECRET_KEY must be the one in use.',
    )
    .requiredOption('--from <store>', 'the file: sqlite:./posthorn.db')
    .requiredOption('--to <store>', 'the database: postgres://user:password@host:5432/database')
    .option('--dry-run', 'count, check both sides and estimate, without changing the target')
    .option('--batch <rows>', 'rows in one commit, 1 to 20000', readBatch, 2000)
    .addHelpText(
      'after',
      examples(
        ['posthorn migrate --dry-run --from sqlite:./posthorn.db --to postgres://posthorn@db/posthorn', 'look first'],
        ['posthorn migrate --from sqlite:./posthorn.db --to postgres://posthorn@db/posthorn', 'and then do it'],
      ),
    )
    .action((flags: Flags) => migrate(terminal, flags));
}

async function migrate(terminal: Terminal, flags: Flags): Promise<void> {
  const from = locate(flags.from, '--from');
  const to = locate(flags.to, '--to');
  if (from.kind !== 'sqlite' || to.kind !== 'postgres') {
    throw new PosthornError(
      'validation',
      `posthorn migrate goes from sqlite: to postgres: only, not from ${from.kind}: to ${to.kind}:.`,
    );
  }
  const { secretKey } = loadConfig({ env: terminal.env });
  // Loaded here, so that the small commands do not wait for what they never use.
  const { openSqliteSource } = await import('../../store/sqlite/index.ts');
  const source = await openSqliteSource(from.path);
  try {
    checkSecretKey(source, secretKey);
    await (flags.dryRun ? dryRun(terminal, source, to.url) : run(terminal, source, to.url, flags));
  } finally {
    source.close();
  }
}

async function dryRun(terminal: Terminal, source: TransferSource, url: string): Promise<void> {
  const { inspectPostgresTarget } = await import('../../store/postgres/index.ts');
  const { fingerprint } = source;
  const target = await inspectPostgresTarget({ url }, { fingerprint, now: terminal.clock.now() });
  const counts = TRANSFER_TABLES.map((each) => [each.name, String(source.count(each))]);
  terminal.out(`Would move to ${withoutPassword(url)}:\n${table(counts)}`);
  const rows = sumOf(source);
  const seconds = Math.ceil(rows / USUAL_ROWS_A_SECOND);
  terminal.out(`${rows} rows, about ${formatDuration(seconds * 1000)} at ${USUAL_ROWS_A_SECOND} rows/s.\n`);
  terminal.out(`The target: ${describeTarget(target)}. Nothing was changed.\n`);
}

type Target = Awaited<ReturnType<typeof import('../../store/postgres/index.ts').inspectPostgresTarget>>;

function describeTarget(target: Target): string {
  if (target === 'missing') return 'its schema is not there yet and will be made';
  if (target === 'old') return 'its schema is of another version; what is in it is looked at when it is up to date';
  if (target.kind === 'done') return `has everything from this file, since ${iso(target.finishedAt)}`;
  if (target.progress.size === 0) return 'empty, and nobody uses it';
  const there = [...target.progress.values()].reduce((sum, { rows }) => sum + rows, 0);
  return `has ${there} rows of this file already; the migration would go on from there`;
}

async function run(terminal: Terminal, source: TransferSource, url: string, flags: Flags): Promise<void> {
  const { openPostgresTarget } = await import('../../store/postgres/index.ts');
  const { clock, out } = terminal;
  const bar = progressBar(terminal, sumOf(source), { lineEveryMs: LINE_EVERY_MS });
  const verified: [string, Checksum][] = [];
  const startedAt = clock.now();
  let movedAt = startedAt;
  const target = await openPostgresTarget({ url, clock });
  try {
    const { finishedAt, rows } = await transfer({
      source,
      target,
      size: { rows: flags.batch, bytes: BYTES_AT_ONCE },
      now: () => clock.now(),
      onRows(count) {
        bar.add(count);
        movedAt = clock.now();
      },
      onVerified: (name, checksum) => verified.push([name, checksum]),
    });
    bar.end();
    if (finishedAt !== undefined) {
      out(`The target has had everything from this file since ${iso(finishedAt)}: there is nothing to do.\n`);
      return;
    }
    out(`The same on both sides:\n${table(verified.map(([name, sum]) => [name, `${sum.rows} rows`, sum.sha256]))}`);
    if (source.replacedNuls > 0) {
      out(`${source.replacedNuls} texts had NUL characters, which PostgreSQL cannot store: they are U+FFFD now.\n`);
    }
    const tookMs = Math.max(1, movedAt - startedAt);
    const checkedMs = clock.now() - movedAt;
    out(`${rows} rows in ${tookMs} ms (${Math.round((rows * 1000) / tookMs)} rows/s), checked in ${checkedMs} ms.\n`);
    out(
      'Start the servers with POSTHORN_STORE set to the target, and no server on the old file: it would send again.\n',
    );
  } finally {
    await target.close();
  }
}

function checkSecretKey(source: TransferSource, secretKey: string | undefined): void {
  const secret = source.anySecret();
  if (secret !== undefined) createSecretBox(secretKey).open(secret);
}

function sumOf(source: TransferSource): number {
  return TRANSFER_TABLES.reduce((sum, each) => sum + source.count(each), 0);
}

function locate(url: string, flag: string): StoreLocation {
  const parsed = parseStoreUrl(url);
  if ('refused' in parsed) throw new PosthornError('validation', `${flag} ${parsed.refused}.`);
  return parsed.value;
}

function readBatch(text: string): number {
  const rows = Number(text);
  if (!Number.isInteger(rows) || rows < 1 || rows > 20_000) {
    throw new InvalidArgumentError('It must be a whole number from 1 to 20000.');
  }
  return rows;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
