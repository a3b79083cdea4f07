/**
 * The connections to one origin. Each is an undici Client of its own, which undici's Pool also does, but here
 * - a connection knows the exchange that it is opened for, so each attempt has its own connect timeout;
 * - an exchange that is given up while it waits leaves at once, and one that is cut takes its connection with it: undici
 *   would dial again on its own for a request that nobody waits for;
 * - the connection used last is used next (no scan over all of them per request).
 */
import { Client } from 'undici';
import { Fifo } from '../fifo.ts';
import type { Connector } from './connector.ts';
import { type Exchange, MAX_HEADER_BYTES } from './exchange.ts';
import { meterReads } from './metered-reads.ts';
import type { Target } from './target.ts';

export interface OriginPoolOptions {
  readonly target: Target;
  readonly connector: Connector;
  readonly maxConnections: number;
  /** No exchange is under way or waits any more. */
  readonly onIdle: (pool: OriginPool) => void;
  readonly onBusy: (pool: OriginPool) => void;
}

/** Shorter than the 5 s after which many servers close an idle connection, to lose fewer races against them. */
const KEEP_ALIVE_MS = 4_000;
/** However long a server offers to keep it. */
const KEEP_ALIVE_MAX_MS = 60_000;

export class OriginPool {
  closed = false;
  readonly options: OriginPoolOptions;
  private readonly connections = new Set<Connection>();
  private readonly free: Connection[] = [];
  /** First in, first out; given-up ones are skipped when their turn comes. */
  private readonly waiting = new Fifo<Exchange>();
  private active = 0;

  constructor(options: OriginPoolOptions) {
    this.options = options;
  }

  get size(): number {
    return this.connections.size;
  }

  submit(exchange: Exchange): void {
    exchange.pool = this;
    if (this.active++ === 0) this.options.onBusy(this);
    const free = this.free.pop();
    if (free !== undefined) free.run(exchange);
    else if (this.connections.size < this.options.maxConnections) this.addConnection().run(exchange);
    else this.waiting.push(exchange);
  }

  /** An exchange that waits has been given up. */
  forget(): void {
    this.settled();
  }

  released(connection: Connection): void {
    const next = this.takeWaiting();
    if (next === undefined) this.free.push(connection);
    else connection.run(next);
    this.settled();
  }

  dropped(connection: Connection, wasBusy: boolean): void {
    this.connections.delete(connection);
    if (!wasBusy) {
      const index = this.free.indexOf(connection);
      if (index !== -1) this.free.splice(index, 1);
      if (this.active === 0) this.options.onIdle(this);
      return;
    }
    const next = this.closed ? undefined : this.takeWaiting();
    if (next !== undefined) this.addConnection().run(next);
    this.settled();
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.connections].map((connection) => connection.close()));
  }

  private settled(): void {
    if (--this.active === 0) this.options.onIdle(this);
  }

  private addConnection(): Connection {
    const connection = new Connection(this);
    this.connections.add(connection);
    return connection;
  }

  private takeWaiting(): Exchange | undefined {
    let exchange = this.waiting.shift();
    while (exchange?.done) exchange = this.waiting.shift();
    return exchange;
  }
}

export class Connection {
  private readonly pool: OriginPool;
  private readonly client: Client;
  private current: Exchange | undefined;
  private stopConnecting: (() => void) | undefined;
  private gone = false;

  constructor(pool: OriginPool) {
    const { target, connector } = pool.options;
    this.pool = pool;
    this.client = new Client(target.origin, {
      pipelining: 1,
      // The attempt's own deadline covers these; undici's are coarse by up to a second.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      connect: (_options, callback) => {
        const exchange = this.current;
        if (exchange !== undefined) exchange.phase = 'connecting';
        this.stopConnecting = connector.open(target, exchange?.connectTimeoutMs ?? 0, (failure, socket) => {
          this.stopConnecting = undefined;
          if (failure !== null) callback(failure, null);
          if (socket === null) return;
          meterReads(socket, (bytes) => this.current?.wants(bytes) ?? true);
          callback(null, socket);
        });
      },
    });
    this.client.on('disconnect', () => {
      if (this.current === undefined) this.drop();
    });
  }

  run(exchange: Exchange): void {
    this.current = exchange;
    exchange.connection = this;
    this.client.dispatch(exchange.options, exchange);
  }

  /** The exchange is complete: the connection is good for the next one. */
  release(): void {
    this.current = undefined;
    this.pool.released(this);
  }

  /** Closes this connection and no other. */
  drop(): void {
    if (this.gone) return;
    this.gone = true;
    const wasBusy = this.current !== undefined;
    this.current = undefined;
    this.stopConnecting?.();
    this.client.destroy(null, nothing);
    this.pool.dropped(this, wasBusy);
  }

  async close(): Promise<void> {
    this.gone = true;
    this.stopConnecting?.();
    await this.client.destroy();
  }
}

function nothing(): void {}
