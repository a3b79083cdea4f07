/** The Sender port without a socket: each request is answered in virtual time, as its endpoint's kind says. */
import type { Clock, Timer } from '../../src/clock.ts';
import type { Outcome } from '../../src/model/index.ts';
import type { Sender, SendRequest } from '../../src/outbound/index.ts';
import type { Kind } from './population.ts';
import type { SeededRandom } from './seeded-random.ts';

/** What the network tells about a request: who watches decides what must never happen. */
export interface Wire {
  started(url: string, messageId: string): void;
  ended(url: string, messageId: string, outcome: Outcome): void;
}

export interface NetworkOptions {
  readonly clock: Clock;
  readonly random: SeededRandom;
  readonly kindOf: (url: string) => Kind;
  readonly wire: Wire;
  /** How likely an endpoint that answers answers 503; 0 without it. */
  readonly errorShare?: number;
}

const FASTEST_MS = 20;
export const SLOWEST_HEALTHY_MS = 80;
const SLOW_MS = 2000;

export function createVirtualNetwork(options: NetworkOptions): Sender {
  const { clock, random, wire } = options;
  /** One listener a signal, however many requests share it: the engine cuts all of them off by one. */
  const cutOffs = new WeakMap<AbortSignal, Set<() => void>>();

  function onAbort(signal: AbortSignal | undefined, cut: () => void): () => void {
    if (signal === undefined) return () => {};
    let cuts = cutOffs.get(signal);
    if (cuts === undefined) {
      const all = new Set<() => void>();
      cuts = all;
      cutOffs.set(signal, all);
      signal.addEventListener('abort', () => {
        for (const each of [...all]) each();
      });
    }
    cuts.add(cut);
    return () => cuts.delete(cut);
  }

  function answerTo(url: string, timeoutMs: number): { afterMs: number; outcome: Outcome } {
    const kind = options.kindOf(url);
    if (kind === 'dead') return { afterMs: timeoutMs, outcome: timedOut(timeoutMs) };
    const afterMs = kind === 'slow' ? SLOW_MS : random.between(FASTEST_MS, SLOWEST_HEALTHY_MS);
    const status = random.draw() < (options.errorShare ?? 0) ? 503 : 200;
    return { afterMs, outcome: { kind: 'response', status, body: '', bodyTruncated: false, durationMs: afterMs } };
  }

  return {
    send(request: SendRequest): Promise<Outcome> {
      if (request.signal?.aborted) return Promise.resolve(cutOff());
      const url = typeof request.url === 'string' ? request.url : request.url.href;
      const messageId = request.headers[request.headers.indexOf('webhook-id') + 1] ?? '';
      wire.started(url, messageId);
      const { afterMs, outcome } = answerTo(url, request.totalTimeoutMs);
      return new Promise((resolve) => {
        const end = (result: Outcome) => {
          timer.cancel();
          forget();
          wire.ended(url, messageId, result);
          resolve(result);
        };
        const timer: Timer = clock.after(afterMs, () => end(outcome));
        const forget = onAbort(request.signal, () => end(cutOff()));
      });
    },
    async close() {},
  };
}

function timedOut(durationMs: number): Outcome {
  return { kind: 'failure', error: 'timeout', message: 'no answer', durationMs };
}

function cutOff(): Outcome {
  return { kind: 'failure', error: 'interrupted', message: 'cut off', durationMs: 0 };
}
