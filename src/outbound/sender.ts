import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { ErrorKind, Outcome, RedirectMode } from '../model/index.ts';
import type { AddressGuard } from './address-guard.ts';
import { createConnector, type DialOptions, type ResolvedAddress } from './connector.ts';
import { OriginPools } from './origin-pools.ts';
import { SignalGroups } from './signal-groups.ts';
import { type TargetResult, toTarget } from './target.ts';
import { Transfer } from './transfer.ts';

export interface SenderOptions {
  readonly clock: Clock;
  readonly guard: AddressGuard;
  readonly userAgent: string;
  /** How much of an answer is kept; 16 KiB by default. */
  readonly responseCapBytes?: number;
  /** 128 by default. */
  readonly maxConnectionsPerOrigin?: number;
  /** 2048 by default; idle origins beyond are closed, least recently used first. */
  readonly maxOrigins?: number;
  /** PEM of an authority to trust besides the usual ones. */
  readonly ca?: string;
  /** All addresses of a name; the system's resolver by default. */
  readonly resolve?: (hostname: string) => Promise<readonly ResolvedAddress[]>;
  /** Opens a TCP socket to a checked address; for tests. */
  readonly connect?: (options: DialOptions) => Socket;
}

export interface SendRequest {
  /** A URL object that is kept between sends saves parsing. */
  readonly url: string | URL;
  /** POST without it. A GET has no body. */
  readonly method?: 'GET' | 'POST';
  /** Name, value, name, value, … */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  /** Name lookup, TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** Everything: waiting for a connection, connecting, headers and body, over all redirects. */
  readonly totalTimeoutMs: number;
  readonly redirects: RedirectMode;
  /** Names of headers that do not follow a redirect to another origin, besides authorization and cookies. */
  readonly crossOriginDropHeaders?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface Sender {
  /** Never rejects for what the network did. */
  send(request: SendRequest): Promise<Outcome>;
  /** Takes nothing more, lets what is under way finish (its deadlines bound that), and closes all connections. */
  close(): Promise<void>;
}

/** What all transfers of a sender share. */
export interface SenderContext {
  readonly clock: Clock;
  readonly guard: AddressGuard;
  readonly userAgent: string;
  readonly responseCapBytes: number;
  readonly pools: OriginPools;
  readonly signals: SignalGroups;
}

/** Judged URLs that are remembered. The oldest goes first; a miss costs a parse. */
const MAX_TARGETS = 4096;

export function createSender(options: SenderOptions): Sender {
  const { clock, guard } = options;
  const connector = createConnector({
    clock,
    guard,
    ca: options.ca,
    resolve: options.resolve,
    connect: options.connect,
  });
  const context: SenderContext = {
    clock,
    guard,
    userAgent: options.userAgent,
    responseCapBytes: options.responseCapBytes ?? 16 * 1024,
    pools: new OriginPools(connector, options.maxConnectionsPerOrigin ?? 128, options.maxOrigins ?? 2048),
    signals: new SignalGroups(),
  };
  const targets = new Map<string, TargetResult>();
  let underWay = 0;
  let closing: Promise<void> | undefined;
  let whenDone: (() => void) | undefined;

  function targetOf(url: string | URL): TargetResult {
    const key = typeof url === 'string' ? url : url.href;
    let result = targets.get(key);
    if (result === undefined) {
      result = toTarget(url, guard);
      if (targets.size >= MAX_TARGETS) targets.delete(targets.keys().next().value ?? key);
      targets.set(key, result);
    }
    return result;
  }

  function send(request: SendRequest): Promise<Outcome> {
    if (closing !== undefined) return refused('interrupted', 'the sender is closed');
    if (request.signal?.aborted) return refused('interrupted', 'the attempt was interrupted before it began');
    const result = targetOf(request.url);
    if (!result.ok) return refused('blocked_address', `the URL is not sent to: ${result.reason}`);
    underWay++;
    return new Promise((resolve) => {
      new Transfer(context, request, result.target, (outcome) => {
        if (--underWay === 0) whenDone?.();
        resolve(outcome);
      }).start();
    });
  }

  async function closeAll(): Promise<void> {
    if (underWay > 0) {
      await new Promise<void>((resolve) => {
        whenDone = resolve;
      });
    }
    await context.pools.close();
  }

  return {
    send,
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}

function refused(error: ErrorKind, message: string): Promise<Outcome> {
  return Promise.resolve({ kind: 'failure', error, message, durationMs: 0 });
}
