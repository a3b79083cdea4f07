/**
 * One POST on one connection, as a handler of undici's dispatch: no streams, no promises, one object.
 *
 * By the names that undici 7 calls itself. For those that its documentation prefers it makes two objects more a request, and
 * an object of all headers of the answer, of which a few are ever looked at.
 */
import type { Dispatcher } from 'undici';
import { CappedBody } from './capped-body.ts';
import { exchangeFailure, malformed } from './exchange-failure.ts';
import type { Failure } from './failure.ts';
import type { Connection, OriginPool } from './origin-pool.ts';

/** waiting: for a connection of the origin. Then connecting (if a new one is needed), headers, body. */
export type Phase = 'waiting' | 'connecting' | 'headers' | 'body';

export interface ExchangeOwner {
  answered(exchange: Exchange): void;
  failed(failure: Failure): void;
}

/** An answer may be announced (103, 102) this often; more is a flood that would keep us parsing until the deadline. */
const MAX_INFORMATIONAL = 16;

/** On the wire, status line and informational answers included. */
export const MAX_HEADER_BYTES = 16 * 1024;

export class Exchange implements Dispatcher.DispatchHandler {
  phase: Phase = 'waiting';
  done = false;
  pool: OriginPool | undefined;
  connection: Connection | undefined;
  status = 0;
  body: CappedBody | undefined;
  truncated = false;

  readonly options: Dispatcher.DispatchOptions;
  readonly connectTimeoutMs: number;
  private readonly capBytes: number;
  private readonly owner: ExchangeOwner;
  /** Name, value, name, value, … */
  private rawHeaders: readonly Buffer[] = [];
  private informational = 0;
  private wireBytes = 0;

  constructor(owner: ExchangeOwner, options: Dispatcher.DispatchOptions, connectTimeoutMs: number, capBytes: number) {
    this.owner = owner;
    this.options = options;
    this.connectTimeoutMs = connectTimeoutMs;
    this.capBytes = capBytes;
  }

  /** Ends it from our side. Nothing more is called on the owner, and its connection, if it has one, is closed. */
  cancel(): void {
    if (this.done) return;
    this.done = true;
    if (this.connection !== undefined) this.connection.drop();
    else this.pool?.forget();
  }

  /**
   * Whether the parser may have that many bytes more. A body may take up to twice its cap on the wire, for the framing of
   * small chunks; beyond that it counts as cut at the cap (one-byte chunks, or chunk extensions without an end).
   */
  wants(bytes: number): boolean {
    this.wireBytes += bytes;
    if (this.done || this.wireBytes <= MAX_HEADER_BYTES) return true;
    if (this.phase !== 'body') {
      this.fail(malformed('its headers are larger than 16 KiB'));
      return false;
    }
    if (this.wireBytes <= MAX_HEADER_BYTES + 2 * this.capBytes) return true;
    this.truncated = true;
    this.answeredAndDropped();
    return false;
  }

  /** The answer's header of that name, which is in lower case; the first, where there are several. */
  header(name: string): string | undefined {
    const { rawHeaders } = this;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const found = rawHeaders[i];
      if (found?.length !== name.length) continue;
      if (found.toString('latin1').toLowerCase() === name) return rawHeaders[i + 1]?.toString('latin1');
    }
    return undefined;
  }

  onConnect(): void {
    this.phase = 'headers';
  }

  onHeaders(status: number, rawHeaders: Buffer[]): boolean {
    if (this.done) return true;
    if (status < 200) {
      if (status <= 101) this.fail(malformed(`status ${status}`));
      else if (++this.informational > MAX_INFORMATIONAL) this.fail(malformed('too many informational answers'));
      return true;
    }
    this.phase = 'body';
    this.status = status;
    this.rawHeaders = rawHeaders;
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.done) return true;
    this.body ??= new CappedBody(this.capBytes);
    if (this.body.add(chunk)) return true;
    this.truncated = true;
    // The status is known and the rest is not wanted. Reading on would let an endless body hold the connection.
    this.answeredAndDropped();
    return true;
  }

  onComplete(): void {
    if (this.done) return;
    this.done = true;
    this.connection?.release();
    this.owner.answered(this);
  }

  onError(error: Error): void {
    if (this.done) return;
    // These never have a body, so the answer was complete; undici still expects what a wrong Content-Length announced.
    if (this.status === 204 || this.status === 304) this.answeredAndDropped();
    else this.fail(exchangeFailure(error, this.phase === 'body'));
  }

  private answeredAndDropped(): void {
    this.done = true;
    this.connection?.drop();
    this.owner.answered(this);
  }

  private fail(failure: Failure): void {
    this.done = true;
    this.connection?.drop();
    this.owner.failed(failure);
  }
}
