/**
 * All lanes of this node, and the node's own limit over them. Starting, finishing and reserving go through here, so that
 * no lane exceeds its limit and all together not the node's.
 */
import type { Clock } from '../clock.ts';
import type { Endpoint } from '../model/index.ts';
import { type Job, Lane } from './lane.ts';

type LaneSettings = Pick<Endpoint, 'id' | 'maxInFlight' | 'rateLimit'>;

export interface LanesOptions {
  readonly clock: Clock;
  /** Requests at the same time over all lanes. */
  readonly maxInFlight: number;
  /** Requests at the same time in one lane, where the endpoint does not say. */
  readonly laneCeiling: number;
  /** Makes the attempt; `finish` says when its slot may go to the next. */
  readonly start: (job: Job) => void;
  /** A lane has more in the store and room for it. */
  readonly onHungry: () => void;
}

const MAX_IDLE_LANES = 10_000;
const FEW_IN_FLIGHT = 4;
const MAX_HELD_BYTES = 64 * 1024 * 1024;

export class Lanes {
  readonly #options: LanesOptions;
  /** Kept while idle too, for the limit they have found; the longest known go first when there are too many. */
  readonly #lanes = new Map<string, Lane>();
  /** Lanes with anything in flight, promised, waiting or left in the store; the least recently claimed for first. */
  readonly #active = new Set<Lane>();
  /** Lanes that have jobs waiting but found the node full, in the order in which they get the next free slots. */
  readonly #queueing = new Set<Lane>();
  readonly #inFlight = new Set<Job>();
  /** Payload bytes of all that is leased to this node, waiting or in flight. */
  #heldBytes = 0;
  #onEmpty: (() => void)[] = [];
  #stopped = false;

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  /** Resolves when nothing is in flight. */
  empty(): Promise<void> {
    return this.#inFlight.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onEmpty.push(resolve));
  }

  /** How many more requests this node may have in flight. */
  get nodeRoom(): number {
    return this.#stopped ? 0 : Math.max(0, this.#options.maxInFlight - this.#inFlight.size);
  }

  /** Whether more may be leased: large payloads wait in the store rather than in memory. */
  get hasMemory(): boolean {
    return this.#heldBytes < MAX_HELD_BYTES;
  }

  /** Promises a place to a delivery that is being accepted; false when it must wait its turn in the store. */
  reserve(endpoint: LaneSettings): boolean {
    const lane = this.configure(endpoint);
    if (lane.directRoom < 1 || this.nodeRoom === 0 || !this.hasMemory) return false;
    lane.reserve();
    this.#active.add(lane);
    return true;
  }

  /**
   * Promises a place to a delivery that a queue handed out; false when it must wait its turn in the store. With `mayWait`
   * false it must be able to start at once.
   */
  admit(destinationId: string, mayWait: boolean): boolean {
    const lane = this.#lane(destinationId);
    if (lane.directRoom < 1 || this.nodeRoom === 0 || !this.hasMemory) return false;
    if (!mayWait && !(lane.hasSlot && this.#hasSlotFor(lane))) return false;
    lane.reserve();
    this.#active.add(lane);
    return true;
  }

  /** Takes over what the endpoint asks for: its own limit of requests at once, and a second. */
  configure({ id, maxInFlight, rateLimit }: LaneSettings): Lane {
    const lane = this.#lane(id);
    lane.configure(Math.min(maxInFlight ?? this.#options.laneCeiling, this.#options.maxInFlight), rateLimit);
    return lane;
  }

  /** Gives a promised place back: the delivery was not accepted as leased. */
  unreserve(destinationId: string): void {
    const lane = this.#lane(destinationId);
    lane.unreserve();
    this.#settle(lane);
  }

  /** Takes the promised place. */
  startReserved(job: Job): void {
    const lane = this.#lane(job.delivery.destinationId);
    lane.unreserve();
    this.#enqueue(lane, job);
  }

  startClaimed(job: Job): void {
    this.#enqueue(this.#lane(job.delivery.destinationId), job);
  }

  /** The attempt is over: its slot is free. */
  finish(job: Job, succeeded: boolean): void {
    this.#inFlight.delete(job);
    const wasShort = !this.hasMemory;
    this.#heldBytes -= job.delivery.payload.length;
    if (wasShort && this.hasMemory) this.#options.onHungry();
    if (this.#inFlight.size === 0) for (const resolve of this.#onEmpty.splice(0)) resolve();
    const lane = this.#lane(job.delivery.destinationId);
    lane.finish(succeeded);
    this.#pump(lane);
    for (const waiting of [...this.#queueing]) {
      if (this.nodeRoom === 0) break;
      this.#queueing.delete(waiting);
      this.#pump(waiting);
    }
    this.#settle(lane);
  }

  setHasMore(destinationId: string, hasMore: boolean): void {
    const lane = hasMore ? this.#lane(destinationId) : this.#lanes.get(destinationId);
    if (lane === undefined) return;
    lane.hasMore = hasMore;
    this.#settle(lane);
  }

  /**
   * What to claim for: lanes that have more and room, least recently served first, and full lanes with room 0, so that
   * due work in them is noted as theirs instead of being found again and again.
   */
  wants(maxLanes: number): { destinationId: string; room: number }[] {
    const hungry: { destinationId: string; room: number }[] = [];
    const full: { destinationId: string; room: number }[] = [];
    const served: Lane[] = [];
    let nodeRoom = this.hasMemory ? this.nodeRoom : 0;
    for (const lane of this.#active) {
      if (hungry.length === maxLanes) break;
      if (lane.isHungry && nodeRoom > 0) {
        const room = Math.min(lane.room, nodeRoom);
        nodeRoom -= room;
        hungry.push({ destinationId: lane.destinationId, room });
      } else if (!lane.hasMore && lane.room === 0 && full.length < maxLanes) {
        full.push({ destinationId: lane.destinationId, room: 0 });
      } else continue;
      served.push(lane);
    }
    for (const lane of served) {
      this.#active.delete(lane);
      this.#active.add(lane);
    }
    return [...hungry, ...full];
  }

  /** How many more deliveries may be leased for a lane. */
  roomOf(destinationId: string): number {
    return this.hasMemory ? Math.min(this.#lane(destinationId).room, this.nodeRoom) : 0;
  }

  /** Starts nothing more. */
  stop(): void {
    this.#stopped = true;
  }

  /** Answers what was leased but not started, and forgets it. */
  drain(): Job[] {
    return [...this.#active].flatMap((lane) => lane.drain());
  }

  #enqueue(lane: Lane, job: Job): void {
    this.#active.add(lane);
    this.#heldBytes += job.delivery.payload.length;
    lane.enqueue(job);
    this.#pump(lane);
  }

  #pump(lane: Lane): void {
    while (!this.#stopped && lane.waitingCount > 0) {
      if (!this.#hasSlotFor(lane)) {
        this.#queueing.add(lane);
        return;
      }
      const next = lane.isPaced ? undefined : lane.next(this.#options.clock.now());
      if (next === undefined) return;
      if ('waitMs' in next) {
        this.#pace(lane, next.waitMs);
        return;
      }
      this.#inFlight.add(next);
      this.#options.start(next);
    }
  }

  /**
   * The last quarter of the node's slots is for lanes that have few in flight, and the last part of that for those whose
   * last attempt succeeded: neither many dead endpoints nor a few that fall silent at full speed can take all.
   */
  #hasSlotFor(lane: Lane): boolean {
    const { maxInFlight } = this.#options;
    if (this.nodeRoom > maxInFlight / 4) return true;
    if (this.nodeRoom > maxInFlight / 16 && lane.inFlight === 0) return true;
    return this.nodeRoom > 0 && lane.isProven && lane.inFlight < FEW_IN_FLIGHT;
  }

  #pace(lane: Lane, waitMs: number): void {
    lane.isPaced = true;
    this.#options.clock.after(waitMs, () => {
      lane.isPaced = false;
      this.#pump(lane);
    });
  }

  #lane(destinationId: string): Lane {
    let lane = this.#lanes.get(destinationId);
    if (lane === undefined) {
      lane = new Lane(destinationId, this.#options.laneCeiling);
      this.#lanes.set(destinationId, lane);
    }
    return lane;
  }

  #settle(lane: Lane): void {
    if (lane.isIdle) {
      this.#active.delete(lane);
      this.#forgetIdle();
      return;
    }
    this.#active.add(lane);
    if (lane.isHungry) this.#options.onHungry();
  }

  #forgetIdle(): void {
    if (this.#lanes.size <= MAX_IDLE_LANES) return;
    for (const [destinationId, lane] of this.#lanes) {
      if (lane.isIdle) this.#lanes.delete(destinationId);
      if (this.#lanes.size <= MAX_IDLE_LANES) return;
    }
  }
}
