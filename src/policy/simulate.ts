import type { Decision, ErrorKind, Outcome, Policy } from '../model/index.ts';
import { decide } from './decide.ts';
import { formatDuration } from './format-duration.ts';

export interface SimulationOptions {
  /** How long the endpoint is down, from the first attempt's start; afterwards it answers 200. */
  readonly outageMs: number;
  /** How it fails meanwhile: a status, an error kind, or a whole outcome; `timeout` without it. */
  readonly failure?: number | ErrorKind | Outcome;
  /** How long each attempt takes; 0 without it, which shows the schedule alone. */
  readonly attemptDurationMs?: number;
  /** Only the hash jitter looks at the ids. */
  readonly messageId?: string;
  readonly deliveryId?: string;
  /** The random draws, in order and then again from the start. `[0]` shows the earliest times, `[0.999]` the latest. */
  readonly draws?: readonly number[];
  /** Draws from a seed instead. Without draws and seed every draw is 0.5: the schedule as expected on average. */
  readonly seed?: number;
}

export interface SimulatedAttempt {
  readonly number: number;
  /** From the start of the first attempt. */
  readonly startsAtMs: number;
  readonly outcome: 'failed' | 'delivered' | 'dead';
  readonly decision: Decision;
}

export interface Simulation {
  readonly attempts: readonly SimulatedAttempt[];
  readonly delivered: boolean;
  /** From the first attempt's start to the end of the one that was delivered. */
  readonly deliveredAfterMs?: number;
  /** From the first attempt's start to the end of the last one, delivered or not. */
  readonly lateMs: number;
  readonly summary: string;
}

/** What the engine would do for an endpoint that is down for a while: the same `decide`, in imagined time. */
export function simulate(policy: Policy, options: SimulationOptions): Simulation {
  const { messageId = 'msg_simulated', deliveryId = 'dlv_simulated', attemptDurationMs = 0 } = options;
  const down = toOutcome(options.failure ?? 'timeout', attemptDurationMs);
  const up = toOutcome(200, attemptDurationMs);
  const draw = drawer(options);

  const attempts: SimulatedAttempt[] = [];
  let startsAtMs = 0;
  for (;;) {
    const number = attempts.length + 1;
    const now = startsAtMs + attemptDurationMs;
    const outcome = startsAtMs < options.outageMs ? down : up;
    const decision = decide(
      { messageId, deliveryId, attempt: number, firstAttemptAt: 0, now, outcome },
      policy,
      draw(),
    );
    attempts.push({ number, startsAtMs, outcome: decision.kind === 'retry' ? 'failed' : decision.kind, decision });
    if (decision.kind !== 'retry') {
      const delivered = decision.kind === 'delivered';
      const summary = summarise(options.outageMs, number, now, decision);
      return { attempts, delivered, ...(delivered && { deliveredAfterMs: now }), lateMs: now, summary };
    }
    startsAtMs = now + decision.delayMs;
  }
}

function summarise(outageMs: number, attempt: number, lateMs: number, decision: Decision): string {
  const outage = outageMs > 0 ? `endpoint down for ${formatDuration(outageMs)}` : 'endpoint healthy';
  const late = lateMs > 0 ? formatDuration(lateMs) : undefined;
  if (decision.kind === 'delivered') {
    return `${outage}: delivered at attempt ${attempt}, ${late === undefined ? 'at once' : `${late} late`}`;
  }
  const cause = decision.kind === 'dead' && decision.cause === 'rejected' ? ` (${decision.reason})` : '';
  return `${outage}: dead-lettered after attempt ${attempt}, ${late ?? 'at once'}${cause}`;
}

function toOutcome(what: number | ErrorKind | Outcome, durationMs: number): Outcome {
  if (typeof what === 'object') return what;
  if (typeof what === 'number') return { kind: 'response', status: what, body: '', bodyTruncated: false, durationMs };
  return { kind: 'failure', error: what, message: what, durationMs };
}

function drawer({ draws = [], seed }: SimulationOptions): () => number {
  if (draws.length > 0) {
    let next = 0;
    return () => draws[next++ % draws.length] ?? 0.5;
  }
  return seed === undefined ? () => 0.5 : mulberry32(seed);
}

/** A small generator with a 32-bit seed: the same simulation in every browser and on every machine. */
function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
