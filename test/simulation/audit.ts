/**
 * What must hold at every moment, checked at every event: no lane and no node beyond its limits, nothing recorded as
 * delivered that was not answered, nothing answered twice; and at the end nothing lost.
 */
import type { Clock } from '../../src/clock.ts';
import type { EngineEvent } from '../../src/engine/index.ts';
import type { Outcome } from '../../src/model/index.ts';
import type { Kind, SimulatedLane } from './population.ts';
import type { Trace } from './trace.ts';
import type { Wire } from './virtual-network.ts';

export interface AuditOptions {
  readonly clock: Clock;
  readonly trace: Trace;
  readonly lanes: readonly SimulatedLane[];
  readonly maxInFlight: number;
  readonly laneCeiling: number;
}

interface LaneState {
  readonly lane: SimulatedLane;
  readonly limit: number;
  inFlight: number;
  /** Start times of the last second, where the lane has a rate limit. */
  starts: number[];
}

interface Expected {
  readonly at: number;
  readonly left: Set<string>;
}

/** More of them say nothing new. */
const MAX_VIOLATIONS = 20;

export class Audit implements Wire {
  readonly violations: string[] = [];
  readonly latenciesMs: Record<Kind, number[]> = { healthy: [], slow: [], dead: [], flooder: [] };
  mostInFlight = 0;
  readonly #options: AuditOptions;
  readonly #byUrl = new Map<string, LaneState>();
  readonly #byId = new Map<string, LaneState>();
  readonly #expected = new Map<string, Expected>();
  readonly #answered = new Set<string>();
  #inFlight = 0;
  /** Deliveries to lanes that answer, accepted and not yet delivered. */
  #open = 0;
  /** Deliveries to dead lanes: they stay in the store. */
  #hopeless = 0;

  constructor(options: AuditOptions) {
    this.#options = options;
    for (const lane of options.lanes) {
      const limit = Math.min(lane.maxInFlight ?? options.laneCeiling, options.maxInFlight);
      const state: LaneState = { lane, limit, inFlight: 0, starts: [] };
      this.#byUrl.set(lane.url, state);
      this.#byId.set(lane.id, state);
    }
  }

  get open(): number {
    return this.#open;
  }

  get hopeless(): number {
    return this.#hopeless;
  }

  kindOf(url: string): Kind {
    return this.#state(url).lane.kind;
  }

  /** A message was accepted for these lanes, as published at `at`. */
  accepted(messageId: string, at: number, lanes: readonly SimulatedLane[]): void {
    const answering = lanes.filter(({ kind }) => kind !== 'dead');
    this.#hopeless += lanes.length - answering.length;
    this.#open += answering.length;
    if (answering.length > 0) this.#expected.set(messageId, { at, left: new Set(answering.map(({ id }) => id)) });
  }

  started(url: string, messageId: string): void {
    const now = this.#options.clock.now();
    const state = this.#state(url);
    this.#options.trace.add(now, 'send', state.lane.id, messageId);
    state.inFlight += 1;
    this.#inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.#inFlight);
    if (state.inFlight > state.limit)
      this.#violate(`lane limit: ${state.inFlight} of ${state.limit} in ${state.lane.id}`);
    if (this.#inFlight > this.#options.maxInFlight) this.#violate(`node limit: ${this.#inFlight} in flight`);
    const { rateLimit } = state.lane;
    if (rateLimit === undefined) return;
    state.starts = [...state.starts.filter((at) => at > now - 1000), now];
    // A second's worth may be saved up, and a second's worth comes in meanwhile.
    if (state.starts.length > 2 * rateLimit) this.#violate(`rate limit: ${state.starts.length}/s in ${state.lane.id}`);
  }

  ended(url: string, messageId: string, outcome: Outcome): void {
    const state = this.#state(url);
    this.#options.trace.add(this.#options.clock.now(), 'answer', state.lane.id, messageId, outcome.kind);
    state.inFlight -= 1;
    this.#inFlight -= 1;
    if (outcome.kind !== 'response' || outcome.status >= 300) return;
    const key = `${messageId} ${state.lane.id}`;
    if (this.#answered.has(key)) this.#violate(`delivered twice: ${key}`);
    this.#answered.add(key);
  }

  on(event: EngineEvent): void {
    if (event.kind === 'trouble') this.#violate(`trouble: ${String(event.error)}`);
    if (event.kind !== 'attempt') return;
    const { attempt } = event;
    const now = this.#options.clock.now();
    this.#options.trace.add(now, 'record', attempt.id, attempt.deliveryId, attempt.number, attempt.decision.kind);
    if (attempt.decision.kind !== 'delivered') return;
    const { messageId, destinationId } = attempt;
    if (!this.#answered.has(`${messageId} ${destinationId}`)) this.#violate(`recorded unsent: ${attempt.deliveryId}`);
    const expected = this.#expected.get(messageId);
    if (expected === undefined || !expected.left.delete(destinationId)) {
      this.#violate(`recorded twice: ${attempt.deliveryId}`);
      return;
    }
    if (expected.left.size === 0) this.#expected.delete(messageId);
    this.#open -= 1;
    const kind = this.#byId.get(destinationId)?.lane.kind ?? 'healthy';
    this.latenciesMs[kind].push(now - expected.at);
  }

  /** At the end, with what the store has that is not delivered. */
  finish(undeliveredInStore: number): void {
    if (this.#open > 0) this.#violate(`lost: ${this.#open} deliveries to endpoints that answer never arrived`);
    if (undeliveredInStore !== this.#hopeless + this.#open) {
      this.#violate(`lost: ${undeliveredInStore} undelivered in the store, ${this.#hopeless + this.#open} accepted`);
    }
  }

  #state(url: string): LaneState {
    const state = this.#byUrl.get(url);
    if (state === undefined) throw new Error(`no endpoint is at ${url}`);
    return state;
  }

  #violate(what: string): void {
    if (this.violations.length < MAX_VIOLATIONS) this.violations.push(what);
  }
}
