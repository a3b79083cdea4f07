/** A SQLite file as the side that everything is moved from. It is brought up to the current schema, and only read then. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { PosthornError } from '../../errors.ts';
import { timeOfId } from '../../ids.ts';
import { RowChecksum } from '../row-checksum.ts';
import type { Checksum, PageSize, TransferPage, TransferRow, TransferSource, TransferValue } from '../transfer.ts';
import { TRANSFER_TABLES, type TransferColumn, type TransferTable } from '../transfer-tables.ts';
import type { Db, SqlValue } from './driver.ts';
import { openAlone } from './executor.ts';

/** Where a table or a column is not simply the one of that name. `:now` is a number. */
const FROM: Readonly<Record<string, string>> = {
  event_ids: `(SELECT application_id, event_id, id AS message_id FROM messages WHERE event_id IS NOT NULL
    UNION ALL SELECT application_id, event_id, message_id FROM event_ids)`,
  lanes: '(SELECT destination_id, sweep FROM lanes WHERE sweep IS NOT NULL)',
};
const COLUMNS: Readonly<Record<string, string>> = {
  'tokens.owner_id': "doc ->> 'applicationId'",
  // What is leased waits again for its endpoint, as after a release.
  'deliveries.state': `CASE WHEN state <> 'leased' THEN state ELSE coalesce(
    (SELECT CASE status WHEN 'active' THEN 'pending' ELSE 'held' END FROM endpoints e WHERE e.id = destination_id),
    'cancelled') END`,
  'deliveries.due_at': `CASE WHEN state <> 'leased' THEN due_at
    WHEN EXISTS (SELECT 1 FROM endpoints e WHERE e.id = destination_id) THEN :now END`,
};

const CHECKSUM_SIZE: PageSize = { rows: 2000, bytes: 8_000_000 };
/** Four characters of an id's time: less than eight hours. */
const COARSE_ID_LENGTH = 'msg_'.length + 4;
const COARSE_ID_MS = 62 ** 6 / 2048;

export async function openSqliteSource(path: string): Promise<TransferSource> {
  if (path === ':memory:' || !existsSync(path)) {
    throw new PosthornError('validation', `There is no file ${path} to migrate from.`);
  }
  const { db, lock } = await openAlone(path);
  const fingerprint = fingerprintOf(db);
  let replacedNuls = 0;

  function checksum(table: TransferTable, now: number): Checksum {
    const sum = new RowChecksum(table);
    let page = readPage(db, table, { now, after: undefined, size: CHECKSUM_SIZE });
    while (page.rows.length > 0) {
      for (const row of page.rows) sum.add(row, false);
      replacedNuls += page.replacedNuls;
      page = readPage(db, table, { now, after: page.last, size: CHECKSUM_SIZE });
    }
    return sum.end();
  }

  return {
    fingerprint,
    lastEpoch: lastEpoch(db),
    messageTimes: messageTimes(db),
    get replacedNuls() {
      return replacedNuls;
    },
    count: (table) => count(db, table),
    read: (table, from) => readPage(db, table, from),
    checksum,
    anySecret: () => anySecret(db),
    close() {
      db.close();
      lock?.close();
    },
  };
}

/** Every server that starts on the file takes a new epoch, so that what it changed does not go unseen. */
function fingerprintOf(db: Db): string {
  const tables = TRANSFER_TABLES.map((table) => {
    const key = table.key.join(', ');
    const last = db.get(`SELECT ${key} FROM ${fromOf(table)} ORDER BY ${table.key.map((k) => `${k} DESC`)} LIMIT 1`);
    return [table.name, count(db, table), last ?? null];
  });
  return createHash('sha256')
    .update(JSON.stringify([lastEpoch(db), tables]))
    .digest('hex');
}

function lastEpoch(db: Db): number {
  return db.get<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'nodes'")?.seq ?? 0;
}

function messageTimes(db: Db): number[] {
  const ids = db.all<{ head: string }>(`SELECT DISTINCT substr(id, 1, ${COARSE_ID_LENGTH}) AS head FROM messages`);
  return ids.map(({ head }) => timeOfId(head)).flatMap((time) => [time, time + COARSE_ID_MS]);
}

function count(db: Db, table: TransferTable): number {
  return db.get<{ count: number }>(`SELECT count(*) AS count FROM ${fromOf(table)}`)?.count ?? 0;
}

interface ReadPage extends TransferPage {
  readonly replacedNuls: number;
}

function readPage(
  db: Db,
  table: TransferTable,
  { now, after, size }: { now: number; after: readonly string[] | undefined; size: PageSize },
): ReadPage {
  const key = table.key.join(', ');
  const params = after === undefined ? [] : [...after];
  const beyond = after === undefined ? '' : `WHERE (${key}) > (${after.map(() => '?').join(', ')})`;
  const ends = db.all<Record<string, SqlValue>>(
    `SELECT ${table.key.map(whole).join(', ')}, ${lengthOf(table)} AS length FROM ${fromOf(table)} ${beyond} ORDER BY ${key} LIMIT ?`,
    ...params,
    size.rows,
  );
  const limit = fitting(ends, size.bytes);
  const end = ends[limit - 1];
  if (end === undefined) return { rows: [], last: [], replacedNuls: 0 };
  for (const row of ends) if (table.key.some((name) => typeof row[name] !== 'string')) throw nulInKey(table, row);
  const found = db.all<Record<string, SqlValue>>(
    `SELECT ${table.columns.map((column) => selected(table, column, now)).join(', ')} FROM ${fromOf(table)} ${beyond}
    ORDER BY ${key} LIMIT ?`,
    ...params,
    limit,
  );
  let replacedNuls = 0;
  const toValue = ({ kind }: TransferColumn, value: SqlValue): TransferValue => {
    if (value === null) return null;
    if (kind === 'boolean') return value === 1;
    if (typeof value === 'bigint') return Number(value);
    if (kind === 'bytes' || typeof value === 'number') return value;
    const text = typeof value === 'string' ? value : Buffer.from(value).toString('utf8');
    const clean = withoutNuls(text, kind === 'list');
    if (clean !== text) replacedNuls += 1;
    return clean;
  };
  const rows = found.map((row): TransferRow => table.columns.map((c) => toValue(c, row[c.name] ?? null)));
  return { rows, last: table.key.map((name) => String(end[name])), replacedNuls };
}

/** How many rows of a page to take: the first always, whatever its size. */
function fitting(ends: readonly Record<string, SqlValue>[], bytes: number): number {
  let sum = 0;
  const index = ends.findIndex(({ length }, at) => {
    sum += Number(length);
    return at > 0 && sum > bytes;
  });
  return index === -1 ? ends.length : index;
}

function fromOf({ name }: TransferTable): string {
  return FROM[name] ?? name;
}

function selected(table: TransferTable, { name, kind }: TransferColumn, now: number): string {
  const expression = COLUMNS[`${table.name}.${name}`];
  if (expression !== undefined) return `${expression.replaceAll(':now', String(now))} AS ${name}`;
  return kind === 'text' || kind === 'document' ? whole(name) : name;
}

/** A text with a NUL in it comes as bytes: drivers end a text there. */
function whole(name: string): string {
  return `CASE WHEN instr(CAST(${name} AS BLOB), x'00') THEN CAST(${name} AS BLOB) ELSE ${name} END AS ${name}`;
}

function lengthOf({ columns }: TransferTable): string {
  const long = columns.filter(({ kind }) => kind === 'document' || kind === 'bytes');
  return ['0', ...long.map(({ name }) => `coalesce(length(${name}), 0)`)].join(' + ');
}

function withoutNuls(text: string, isList: boolean): string {
  if (isList && text.includes('\\u0000')) {
    return JSON.stringify((JSON.parse(text) as string[]).map((item) => withoutNuls(item, false)));
  }
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}

function nulInKey(table: TransferTable, row: Readonly<Record<string, SqlValue>>): PosthornError {
  const key = table.key.map((name) => Buffer.from(row[name] as Uint8Array).toString('utf8'));
  return new PosthornError(
    'validation',
    `${table.name} has a row whose key contains the NUL character (${JSON.stringify(key)}), which PostgreSQL cannot store. Delete it first.`,
  );
}

function anySecret(db: Db): string | undefined {
  const endpoint = db.get<{ key: string | null }>(
    "SELECT doc ->> '$.secrets[0].key' AS key FROM endpoints WHERE doc ->> '$.secrets[0].key' IS NOT NULL LIMIT 1",
  );
  const source = db.get<{ settings: string | null }>("SELECT doc ->> 'settings' AS settings FROM sources LIMIT 1");
  return endpoint?.key ?? source?.settings ?? undefined;
}
