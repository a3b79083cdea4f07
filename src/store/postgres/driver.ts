/**
 * The one small door to PostgreSQL: a pool of pipelining connections, statements that are prepared once per connection,
 * and transactions whose statements go out without waiting for each other's answers.
 */
import pg from 'pg';
import { type Clock, sleep } from '../../clock.ts';
import { PosthornError } from '../../errors.ts';
import { type ElementType, isElementType, toBinaryArray } from './binary-array.ts';
import { explain, explainConnect, isLostConnection, isReadOnly, isRetryable } from './explain.ts';
import { ServerClock } from './server-clock.ts';

export type Scalar = string | number | boolean | null | Uint8Array;
export type SqlValue = Scalar | readonly Scalar[];

/** A statement with the name it is prepared under. Without a name it is planned anew each time. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  /** Of parameters that it casts to arrays, by their place: what they are arrays of. */
  readonly arrays?: readonly (ElementType | undefined)[];
}

export function statement(name: string, text: string): Statement {
  return { name: `posthorn_${name}`, text, arrays: arraysIn(text) };
}

function arraysIn(text: string): (ElementType | undefined)[] {
  const arrays: (ElementType | undefined)[] = [];
  for (const [, place, type = ''] of text.matchAll(/\$(\d+)::(\w+)\[\]/g)) {
    if (isElementType(type)) arrays[Number(place) - 1] = type;
  }
  return arrays;
}

/** Where statements run: in a transaction, or each in its own. */
export interface Runner {
  all<R>(statement: Statement, ...params: SqlValue[]): Promise<R[]>;
  /** How many rows it changed. */
  run(statement: Statement, ...params: SqlValue[]): Promise<number>;
}

export interface Tx extends Runner {
  /** Sends COMMIT right behind what was sent before it. If any of that failed, the server rolls back instead. */
  commit(): Promise<void>;
}

export interface DbOptions {
  readonly client: pg.ClientConfig;
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  readonly schema: string;
  /** Where nodes on this schema tell each other news, and the name under which this one does. */
  readonly channel: string;
  readonly teller: string;
  readonly clock: Clock;
}

const MAX_TRIES = 5;
const CONNECT_PAUSES_MS = [50, 200];
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';
const SNAPSHOT: Statement = { text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY' };
const COMMIT: Statement = { text: 'COMMIT' };

export class Db implements Runner {
  readonly serverClock: ServerClock;
  readonly #pool: pg.Pool;
  readonly #options: DbOptions;

  constructor(options: DbOptions) {
    this.#options = options;
    this.serverClock = new ServerClock(options.clock);
    this.#pool = new pg.Pool({
      ...options.client,
      max: options.poolSize,
      connectionTimeoutMillis: options.connectTimeoutMs,
    });
    // An idle connection that breaks leaves the pool by itself; without a listener it would end the process.
    this.#pool.on('error', () => {});
    // Nor has a new one any between the pool's listener and that of its first use, which come in different turns: a server that
    // ends it right behind its greeting, as one that shuts down does, would end the process.
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  get schema(): string {
    return this.#options.schema;
  }

  get channel(): string {
    return this.#options.channel;
  }

  get teller(): string {
    return this.#options.teller;
  }

  all<R>(statement: Statement, ...params: SqlValue[]): Promise<R[]> {
    return this.#tried(async (client) => (await client.query<R & pg.QueryResultRow>(toQuery(statement, params))).rows);
  }

  run(statement: Statement, ...params: SqlValue[]): Promise<number> {
    return this.#tried(async (client) => (await client.query(toQuery(statement, params))).rowCount ?? 0);
  }

  /**
   * Runs `work` in one transaction, from its beginning again after a deadlock. `locks` are taken first, in a statement
   * of their own: what waits for a lock inside a statement goes on with a snapshot from before the wait.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, locks = ''): Promise<T> {
    return this.#tried(async (client) => {
      const tx = new OpenTx(client, locks === '' ? BEGIN : `${BEGIN};SELECT ${locks}`);
      try {
        const result = await work(tx);
        await tx.commit();
        return result;
      } catch (error) {
        await tx.rollback();
        throw error;
      }
    });
  }

  /** Reads that see the same moment, though they are several. */
  snapshot<T>(read: (runner: Runner) => Promise<T>): Promise<T> {
    return this.transaction((tx) => {
      const begun = tx.run(SNAPSHOT);
      return Promise.all([read(tx), begun]).then(([result]) => result);
    });
  }

  /** One connection for a while, never tried again: what runs on it is the user's. `spoil` ends it with its use. */
  borrow<T>(work: (client: pg.PoolClient, spoil: () => void) => Promise<T>): Promise<T> {
    return this.#once(work).catch((error: unknown) => {
      throw explain(error);
    });
  }

  /** A transaction that is open on a connection already. */
  static within(client: pg.PoolClient): Tx {
    return new OpenTx(client);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #tried<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#once(work);
      } catch (error) {
        // Rolled back by the server for the sake of another transaction: nothing was written.
        if (tries === MAX_TRIES || !isRetryable(error)) throw explain(error);
      }
    }
  }

  async #once<T>(work: (client: pg.PoolClient, spoil: () => void) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let broken = false;
    const onError = () => {
      broken = true;
    };
    client.on('error', onError);
    try {
      return await work(client, onError);
    } catch (error) {
      // A server that takes no writes is one to leave: the next connection may find the new primary.
      broken ||= isLostConnection(error) || isReadOnly(error);
      throw error;
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  }

  /** A connection that was never made has sent nothing: trying again is safe. */
  async #connect(): Promise<pg.PoolClient> {
    for (const pauseMs of CONNECT_PAUSES_MS) {
      try {
        return await this.#pool.connect();
      } catch (error) {
        if (!isLostConnection(error)) throw this.#explainConnect(error);
      }
      await sleep(this.#options.clock, pauseMs);
    }
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw this.#explainConnect(error);
    }
  }

  #explainConnect(error: unknown): unknown {
    if (this.#pool.totalCount < this.#options.poolSize || this.#pool.idleCount > 0) return explainConnect(error);
    return new PosthornError(
      'store_unavailable',
      `All ${this.#options.poolSize} connections to PostgreSQL were busy for ${this.#options.connectTimeoutMs} ms: nothing was stored. Try again; if it stays so, look for slow or blocked queries, or give this node more connections (POSTHORN_POSTGRES_POOL).`,
      { cause: error, nothingStored: true },
    );
  }
}

class OpenTx implements Tx {
  readonly #client: pg.PoolClient;
  #committing: Promise<void> | undefined;
  /** Why the transaction cannot be committed any more. */
  #failure: unknown;

  constructor(client: pg.PoolClient, begin?: string) {
    this.#client = client;
    if (begin !== undefined) void this.#heard(client.query(begin));
  }

  async all<R>(statement: Statement, ...params: SqlValue[]): Promise<R[]> {
    return (await this.#heard(this.#client.query<R & pg.QueryResultRow>(toQuery(statement, params)))).rows;
  }

  async run(statement: Statement, ...params: SqlValue[]): Promise<number> {
    return (await this.#heard(this.#client.query(toQuery(statement, params)))).rowCount ?? 0;
  }

  commit(): Promise<void> {
    this.#committing ??= this.#heard(this.#client.query(COMMIT)).then(({ command }) => {
      if (command !== 'COMMIT') throw this.#failure ?? new Error('the transaction was rolled back');
    });
    return this.#heard(this.#committing);
  }

  async rollback(): Promise<void> {
    // After COMMIT was sent the transaction is over, one way or the other.
    if (this.#committing === undefined) await this.#client.query('ROLLBACK').catch(() => {});
    else await this.#committing.catch(() => {});
  }

  /**
   * Of statements that fail together only one is awaited; the others must not count as unhandled. The first is the reason:
   * all that were sent behind it fail because of it.
   */
  #heard<T>(promise: Promise<T>): Promise<T> {
    promise.catch((error: unknown) => {
      this.#failure ??= error;
    });
    return promise;
  }
}

function toQuery({ name, text, arrays }: Statement, params: readonly SqlValue[]): pg.QueryConfig {
  const values = params.map((value, index) => {
    if (!Array.isArray(value)) return value;
    const type = arrays?.[index];
    return type === undefined ? value.map(toBytes) : toBinaryArray(type, value);
  });
  return name === undefined ? { text, values } : { name, text, values };
}

function toBytes(value: Scalar): Scalar {
  if (!(value instanceof Uint8Array) || Buffer.isBuffer(value)) return value;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
