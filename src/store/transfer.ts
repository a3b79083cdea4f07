/**
 * Moving everything from one store to another: what each side offers, and the move itself. Pages go over in the order of
 * their keys, and the target keeps how far it is in the commit that brings them: whoever is killed goes on from there.
 */
import { PosthornError } from '../errors.ts';
import { TRANSFER_TABLES, type TransferTable } from './transfer-tables.ts';

export type TransferValue = string | number | boolean | null | Uint8Array;
/** In the order of the table's columns. */
export type TransferRow = readonly TransferValue[];

export interface Checksum {
  readonly rows: number;
  /** Over every row in its canonical form, in the order of the keys. */
  readonly sha256: string;
}

export interface TransferPage {
  readonly rows: readonly TransferRow[];
  /** The key of its last row. */
  readonly last: readonly string[];
}

export interface PageSize {
  readonly rows: number;
  /** Not counting the row that goes beyond it. */
  readonly bytes: number;
}

/** The side that is moved from. Nobody else has it open. */
export interface TransferSource {
  /** Changes whenever a server has worked on this store, and between stores. */
  readonly fingerprint: string;
  /** The highest epoch that it ever gave to a node. */
  readonly lastEpoch: number;
  /** Times, some days apart at most, that its messages were made at. */
  readonly messageTimes: readonly number[];
  /** NUL characters in texts that were read so far: each was replaced by U+FFFD, since not every store takes them. */
  readonly replacedNuls: number;
  count(table: TransferTable): number;
  /** Leased deliveries come as waiting ones, due at `now`. */
  read(table: TransferTable, from: { now: number; after: readonly string[] | undefined; size: PageSize }): TransferPage;
  checksum(table: TransferTable, now: number): Checksum;
  /** A stored secret as it is, sealed or not; undefined where there is none. */
  anySecret(): string | undefined;
  close(): void;
}

export interface TransferProgress {
  readonly rows: number;
  readonly after: readonly string[] | undefined;
}

export type Begun =
  | { readonly kind: 'done'; readonly finishedAt: number }
  /** `now` is when the move first began: what is due by then is the same in every run. */
  | { readonly kind: 'open'; readonly now: number; readonly progress: ReadonlyMap<string, TransferProgress> };

/** The side that is moved to. No node can join it until `finish`. */
export interface TransferTarget {
  /** Refuses where nodes are alive, where there are rows of another origin, and where another source was begun with. */
  begin(input: { fingerprint: string; now: number }): Promise<Begun>;
  prepare(source: Pick<TransferSource, 'messageTimes'>): Promise<void>;
  /** Rows and progress in one commit. `before` is how many rows were there: whoever counts otherwise is refused. */
  write(table: TransferTable, page: TransferPage, before: number): Promise<void>;
  checksum(table: TransferTable): Promise<Checksum>;
  finish(input: { lastEpoch: number; now: number }): Promise<void>;
  close(): Promise<void>;
}

export interface TransferOptions {
  readonly source: TransferSource;
  readonly target: TransferTarget;
  readonly size: PageSize;
  readonly now: () => number;
  /** So many rows are over, in this run or an earlier one. */
  readonly onRows?: (rows: number) => void;
  readonly onVerified?: (table: string, checksum: Checksum) => void;
}

export interface Transferred {
  /** Undefined when an earlier run had finished already. */
  readonly finishedAt: number | undefined;
  /** Brought by this run. */
  readonly rows: number;
}

export async function transfer(options: TransferOptions): Promise<Transferred> {
  const { source, target } = options;
  const begun = await target.begin({ fingerprint: source.fingerprint, now: options.now() });
  if (begun.kind === 'done') return { finishedAt: begun.finishedAt, rows: 0 };
  await target.prepare(source);
  let rows = 0;
  for (const table of TRANSFER_TABLES) {
    const progress = begun.progress.get(table.name) ?? { rows: 0, after: undefined };
    options.onRows?.(progress.rows);
    rows += await moveTable(options, table, begun.now, progress);
  }
  for (const table of TRANSFER_TABLES) await verify(options, table, begun.now);
  await target.finish({ lastEpoch: source.lastEpoch, now: options.now() });
  return { finishedAt: undefined, rows };
}

/** The next page is read while the one before it is on its way. */
async function moveTable(
  { source, target, size, onRows }: TransferOptions,
  table: TransferTable,
  now: number,
  progress: TransferProgress,
): Promise<number> {
  let before = progress.rows;
  let page = source.read(table, { now, after: progress.after, size });
  while (page.rows.length > 0) {
    const writing = target.write(table, page, before);
    // Heard here, so that a read that throws meanwhile is not drowned by an unhandled rejection.
    writing.catch(() => {});
    const next = source.read(table, { now, after: page.last, size });
    await writing;
    before += page.rows.length;
    onRows?.(page.rows.length);
    page = next;
  }
  return before - progress.rows;
}

async function verify({ source, target, onVerified }: TransferOptions, table: TransferTable, now: number) {
  const arriving = target.checksum(table);
  arriving.catch(() => {});
  const sent = source.checksum(table, now);
  const arrived = await arriving;
  if (sent.rows !== arrived.rows || sent.sha256 !== arrived.sha256) {
    throw new PosthornError(
      'conflict',
      `${table.name}: what arrived is not what was sent (${sent.rows} rows with checksum ${sent.sha256.slice(0, 12)}, against ${arrived.rows} with ${arrived.sha256.slice(0, 12)}). Nothing was lost: the source is as it was, and no node can join the target. Drop the target's schema and run the migration again.`,
    );
  }
  onVerified?.(table.name, arrived);
}
