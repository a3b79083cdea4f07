/** One call of `send`: its one deadline, its hops, and the outcome. */
import type { Timer } from '../clock.ts';
import type { Outcome } from '../model/index.ts';
import { Exchange, type ExchangeOwner } from './exchange.ts';
import { durationText, Failure } from './failure.ts';
import { headersAcrossOrigins, isFollowed, MAX_HOPS, redirectTarget } from './redirect.ts';
import { responseText } from './response-text.ts';
import type { SenderContext, SendRequest } from './sender.ts';
import type { Target } from './target.ts';

type Response = Extract<Outcome, { kind: 'response' }>;

/** Neither header needs more, and what a stranger sends is stored. */
const MAX_HEADER_VALUE = 256;

export class Transfer implements ExchangeOwner {
  private readonly context: SenderContext;
  private readonly request: SendRequest;
  private readonly settle: (outcome: Outcome) => void;
  private readonly startedAt: number;
  private readonly deadline: Timer;
  private target: Target;
  private headers: string[];
  private exchange: Exchange;
  private hops = 0;

  constructor(context: SenderContext, request: SendRequest, target: Target, settle: (outcome: Outcome) => void) {
    this.context = context;
    this.request = request;
    this.settle = settle;
    this.target = target;
    this.headers = withUserAgent(request.headers, context.userAgent);
    this.startedAt = context.clock.now();
    this.deadline = context.clock.after(request.totalTimeoutMs, () => this.expire());
    this.exchange = this.newExchange();
    if (request.signal !== undefined) context.signals.add(request.signal, this);
  }

  start(): void {
    this.context.pools.of(this.target).submit(this.exchange);
  }

  interrupt(): void {
    this.exchange.cancel();
    this.failed(new Failure('interrupted', 'the attempt was interrupted on this side'));
  }

  answered(exchange: Exchange): void {
    if (this.request.redirects === 'follow' && isFollowed(exchange.status)) {
      this.follow(exchange);
      return;
    }
    const { truncated } = exchange;
    const retryAfter = short(exchange.header('retry-after'));
    const webhookDelivery = short(exchange.header('webhook-delivery'));
    const outcome: { -readonly [K in keyof Response]: Response[K] } = {
      kind: 'response',
      status: exchange.status,
      body: responseText(exchange.body?.bytes(), truncated, short(exchange.header('content-encoding'))),
      bodyTruncated: truncated,
      durationMs: this.elapsedMs(),
    };
    if (retryAfter !== undefined) outcome.retryAfter = retryAfter;
    if (webhookDelivery !== undefined) outcome.webhookDelivery = webhookDelivery;
    this.finish(outcome);
  }

  failed(failure: Failure): void {
    this.finish({
      kind: 'failure',
      error: failure.kind,
      message: failure.message,
      durationMs: this.elapsedMs(),
    });
  }

  private follow(exchange: Exchange): void {
    if (++this.hops > MAX_HOPS) {
      this.failed(
        new Failure('too_many_redirects', `more than ${MAX_HOPS} redirects, the last from ${this.target.origin}`),
      );
      return;
    }
    const next = redirectTarget(this.target, exchange.header('location'), this.context.guard);
    if (next instanceof Failure) {
      this.failed(next);
      return;
    }
    if (next.origin !== this.target.origin) {
      this.headers = headersAcrossOrigins(this.headers, this.request.crossOriginDropHeaders);
    }
    this.target = next;
    this.exchange = this.newExchange();
    this.start();
  }

  private expire(): void {
    const limit = durationText(this.request.totalTimeoutMs);
    const { phase } = this.exchange;
    this.exchange.cancel();
    this.failed(new Failure('timeout', `${PENDING[phase]} within ${limit}`));
  }

  private newExchange(): Exchange {
    return new Exchange(
      this,
      {
        path: this.target.path,
        method: this.request.method ?? 'POST',
        headers: this.headers,
        body: this.request.method === 'GET' ? null : this.request.body,
        blocking: false,
      },
      this.request.connectTimeoutMs,
      this.context.responseCapBytes,
    );
  }

  private elapsedMs(): number {
    return Math.max(0, this.context.clock.now() - this.startedAt);
  }

  private finish(outcome: Outcome): void {
    this.deadline.cancel();
    if (this.request.signal !== undefined) this.context.signals.delete(this.request.signal, this);
    this.settle(outcome);
  }
}

const PENDING = {
  waiting: 'no free connection to the endpoint',
  connecting: 'no connection',
  headers: 'no response headers',
  body: 'response body not finished',
} as const;

function short(value: string | undefined): string | undefined {
  return value?.slice(0, MAX_HEADER_VALUE);
}

/**
 * The caller's own user agent wins. A `host` of the caller is dropped: Host and SNI are the URL's, or a request that
 * was checked for one host could be routed to another behind the same address.
 */
function withUserAgent(headers: readonly string[], userAgent: string): string[] {
  const result = headers.slice();
  let found = false;
  for (let i = result.length - 2; i >= 0; i -= 2) {
    const { length } = result[i] ?? '';
    if (length === 4 && result[i]?.toLowerCase() === 'host') result.splice(i, 2);
    else if (length === 10 && result[i]?.toLowerCase() === 'user-agent') found = true;
  }
  if (!found) result.push('user-agent', userAgent);
  return result;
}
