/** A PostgreSQL schema as the side that everything is moved to. It must be empty, and nobody joins it until it is whole. */
import { type Clock, systemClock } from '../../clock.ts';
import { PosthornError } from '../../errors.ts';
import { RowChecksum } from '../row-checksum.ts';
import type { Begun, Checksum, TransferPage, TransferTarget, TransferValue } from '../transfer.ts';
import { TRANSFER_TABLES, type TransferColumn, type TransferTable } from '../transfer-tables.ts';
import { type ConnectionOptions, clientConfig } from './client-config.ts';
import { Db, statement, type Tx } from './driver.ts';
import { createPartitionsFor } from './maintain.ts';
import { inspectServer, prepareServer } from './prepare-server.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const ROWS_A_READ = 5000;
const YEAR_MS = 366 * 24 * 3_600_000;

const TYPES: Readonly<Record<TransferColumn['kind'], string>> = {
  text: 'text',
  document: 'text',
  integer: 'bigint',
  boolean: 'boolean',
  bytes: 'bytea',
  list: 'jsonb',
};
// Of lanes only what a status change left to do is moved; the rest is worked out at the end.
const ONLY: Readonly<Record<string, string>> = { lanes: 'sweep IS NOT NULL' };

const LIVE_NODES = statement('transfer_nodes', 'SELECT name FROM nodes WHERE expires_at > $1 ORDER BY epoch');
const TRANSFERS = statement('transfers', 'SELECT fingerprint, started_at, finished_at FROM transfers');
const BEGIN = statement('transfer_begin', 'INSERT INTO transfers (fingerprint, started_at) VALUES ($1, $2)');
const PROGRESS = statement('transfer_progress', 'SELECT table_name, rows, last_key FROM transfer_progress');
// Changes nothing where another run has brought rows meanwhile.
const ADVANCE = statement(
  'transfer_advance',
  `INSERT INTO transfer_progress AS p (table_name, rows, last_key) VALUES ($1, $2::bigint + $3, $4)
  ON CONFLICT (table_name) DO UPDATE SET rows = excluded.rows, last_key = excluded.last_key WHERE p.rows = $2`,
);
const REBUILD_LANES = statement(
  'transfer_lanes',
  `INSERT INTO lanes (destination_id, due_at)
  SELECT d.destination_id, min(d.queued_at) FROM deliveries d JOIN endpoints e ON e.id = d.destination_id
  WHERE d.queued_at IS NOT NULL AND e.status = 'active' GROUP BY d.destination_id
  ON CONFLICT (destination_id) DO UPDATE SET due_at = excluded.due_at`,
);
// An epoch never repeats, not even across the two stores.
const RAISE_EPOCHS = statement(
  'transfer_epochs',
  `SELECT setval(pg_get_serial_sequence('nodes', 'epoch'), greatest($1::bigint, last_value)) FROM nodes_epoch_seq`,
);
const FINISH = statement('transfer_finish', 'UPDATE transfers SET finished_at = $1 WHERE finished_at IS NULL');

interface TransferRecord {
  fingerprint: string;
  started_at: number;
  finished_at: number | null;
}

type TargetOptions = ConnectionOptions & { readonly clock?: Clock };

export async function openPostgresTarget(options: TargetOptions): Promise<TransferTarget> {
  const { client, schema } = clientConfig({ ...options, statementTimeoutMs: 0 });
  await prepareServer({ ...client, connectionTimeoutMillis: CONNECT_TIMEOUT_MS }, schema, { forTransfer: true });
  const db = openDb(options);
  return {
    begin: ({ fingerprint, now }) => db.transaction((tx) => begin(db, tx, { fingerprint, now, dryRun: false })),
    async prepare({ messageTimes }) {
      const { clock = systemClock } = options;
      // An id that no clock can have made is left to the default partition.
      await createPartitionsFor(
        db,
        messageTimes.filter((time) => time >= 0 && time < clock.now() + YEAR_MS),
      );
    },
    write: (table, page, before) => write(db, table, page, before),
    checksum: (table) => checksum(db, table),
    async finish({ lastEpoch, now }) {
      await db.transaction(async (tx) => {
        await Promise.all([tx.run(REBUILD_LANES), tx.all(RAISE_EPOCHS, lastEpoch), tx.run(FINISH, now)]);
      });
      await db.run({ text: `ANALYZE ${[...TRANSFER_TABLES.map(({ name }) => name)].join(', ')}` });
    },
    close: () => db.close(),
  };
}

/** What a move would find: whether the schema is there, and the refusal that `begin` would answer with. Changes nothing. */
export async function inspectPostgresTarget(
  options: TargetOptions,
  input: { fingerprint: string; now: number },
): Promise<Begun | 'missing' | 'old'> {
  const { client, schema } = clientConfig(options);
  const state = await inspectServer({ ...client, connectionTimeoutMillis: CONNECT_TIMEOUT_MS }, schema);
  // Opening it explains.
  if (state === 'newer') return 'old';
  if (state !== 'current') return state;
  const db = openDb(options);
  try {
    return await db.transaction((tx) => begin(db, tx, { ...input, dryRun: true }));
  } finally {
    await db.close();
  }
}

function openDb(options: TargetOptions): Db {
  const { client, schema } = clientConfig({ ...options, statementTimeoutMs: 0 });
  const { clock = systemClock } = options;
  return new Db({ client, schema, clock, channel: '', teller: '', poolSize: 2, connectTimeoutMs: CONNECT_TIMEOUT_MS });
}

async function begin(
  db: Db,
  tx: Tx,
  { fingerprint, now, dryRun }: { fingerprint: string; now: number; dryRun: boolean },
): Promise<Begun> {
  // Whoever joins at this moment is either seen here, or waits and then sees the row that is written here.
  if (!dryRun) await tx.run({ text: 'LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE' });
  const transfers = await tx.all<TransferRecord>(TRANSFERS);
  const ours = transfers.find((transfer) => transfer.fingerprint === fingerprint);
  if (ours?.finished_at != null) return { kind: 'done', finishedAt: ours.finished_at };
  if (ours !== undefined) return { kind: 'open', now: ours.started_at, progress: await readProgress(tx) };
  const drop = `DROP SCHEMA ${db.schema} CASCADE`;
  if (transfers.some((transfer) => transfer.finished_at === null)) {
    throw new PosthornError(
      'conflict',
      `The schema "${db.schema}" holds part of a migration from another file, or the file was used since that began. Give that up with ${drop}, and begin anew.`,
    );
  }
  const live = await tx.all<{ name: string }>(LIVE_NODES, now);
  if (live.length > 0) {
    throw new PosthornError(
      'store_locked',
      `The schema "${db.schema}" is in use by ${live.map(({ name }) => name).join('; ')}. Stop every node on it first; one that was killed is forgotten after some seconds.`,
    );
  }
  const full = await tablesWithRows(tx);
  if (full.length > 0) {
    throw new PosthornError(
      'conflict',
      `The schema "${db.schema}" is not empty (${full.join(', ')}): a migration would mix two stores. Name another schema (postgres://…?schema=other), or empty this one with ${drop}.`,
    );
  }
  if (!dryRun) await Promise.all([tx.run({ text: 'DELETE FROM nodes' }), tx.run(BEGIN, fingerprint, now)]);
  return { kind: 'open', now, progress: new Map() };
}

async function readProgress(tx: Tx) {
  const rows = await tx.all<{ table_name: string; rows: number; last_key: string[] }>(PROGRESS);
  return new Map(rows.map((row) => [row.table_name, { rows: row.rows, after: row.last_key }]));
}

async function tablesWithRows(tx: Tx): Promise<string[]> {
  const names = [...TRANSFER_TABLES.map(({ name }) => name), 'outbox'];
  const asked = names.map((name) => `SELECT '${name}' AS name WHERE EXISTS (SELECT 1 FROM ${name})`);
  return (await tx.all<{ name: string }>({ text: asked.join(' UNION ALL ') })).map(({ name }) => name);
}

async function write(db: Db, table: TransferTable, page: TransferPage, before: number): Promise<void> {
  const columns = table.columns.map((_, index) => page.rows.map((row) => row[index] ?? null));
  const arrays = table.columns.map(({ kind }, index) => `$${index + 1}::${TYPES[kind]}[]`);
  const names = table.columns.map(({ name }) => name).join(', ');
  const insert = statement(
    `transfer_to_${table.name}`,
    `INSERT INTO ${table.name} (${names}) SELECT * FROM unnest(${arrays.join(', ')})`,
  );
  await db.transaction(async (tx) => {
    const [advanced] = await Promise.all([
      tx.run(ADVANCE, table.name, before, page.rows.length, page.last),
      tx.run(insert, ...columns),
    ]);
    if (advanced !== 1) {
      throw new PosthornError(
        'conflict',
        'Another migration writes to this schema at the same time: let that one end.',
      );
    }
  });
}

async function checksum(db: Db, table: TransferTable): Promise<Checksum> {
  const key = table.key.join(', ');
  const columns = table.columns.map(selected).join(', ');
  const also = ONLY[table.name] === undefined ? '' : ` AND ${ONLY[table.name]}`;
  const beyond = `(${key}) > (${table.key.map((_, index) => `$${index + 1}`).join(', ')})`;
  const page = statement(
    `transfer_sum_${table.name}`,
    `SELECT ${columns} FROM ${table.name} WHERE ${beyond}${also} ORDER BY ${key} LIMIT ${ROWS_A_READ}`,
  );
  const sum = new RowChecksum(table);
  let after = table.key.map(() => '');
  for (;;) {
    const rows = await db.all<Record<string, TransferValue>>(page, ...after);
    for (const row of rows) {
      const values = table.columns.map(({ name }) => row[name] ?? null);
      sum.add(values, true);
    }
    const last = rows.at(-1);
    if (last === undefined) return sum.end();
    after = table.key.map((name) => String(last[name]));
  }
}

function selected({ name, kind }: TransferColumn): string {
  if (kind === 'document') return `encode(sha256(convert_to(${name}, 'UTF8')), 'hex') AS ${name}`;
  if (kind === 'bytes') return `encode(sha256(${name}), 'hex') AS ${name}`;
  return kind === 'list' ? `${name}::text AS ${name}` : name;
}
