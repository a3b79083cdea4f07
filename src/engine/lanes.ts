/**
 * All lanes of this node, and the node's own limit over them. Starting, finishing and reserving go through here, so that
 * no lane exceeds its limit and all together not the node's.
 */
import type { Clock } from '../clock.ts';
import type { Endpoint } from '../model/index.ts';
import { type Job, Lane } from './lane.ts';
import { Slots } from './slots.ts';

type LaneSettings = Pick<Endpoint, 'id' | 'maxInFlight' | 'rateLimit'>;

export interface LanesOptions {
  readonly clock: Clock;
  /** Requests at the same time over all lanes. */
  readonly maxInFlight: number;
  /** Requests at the same time in one lane, where the endpoint does not say. */
  readonly laneCeiling: number;
  /** How far ahead of its pace a lane may lease. */
  readonly aheadMs: () => number;
  /** Deliveries that one claim may take; a lane that wants more claims again. */
  readonly mostPerClaim: number;
  /** Makes the attempt; `finish` says when its slot may go to the next. */
  readonly start: (job: Job) => void;
  /** A lane has more in the store and room for it. */
  readonly onHungry: () => void;
}

const MAX_IDLE_LANES = 10_000;
/** Failing lanes are remembered longer, up to this many lanes in all. */
const MAX_LANES = 50_000;
/** Lanes that are looked at for one that goes idle: enough to keep up, whatever the oldest ones are doing. */
const FORGET_LOOKS = 4;
/** What an unknown lane gets to begin with; from then on its own limit says. */
const FIRST_ROOM = 8;
/** Enough to go on with while the next are being accepted. */
const PLENTY = 256;
const MAX_HELD_BYTES = 64 * 1024 * 1024;
/** Beyond this much no lane leases ahead: one that was fast and fell silent must leave memory to the others. */
const MAX_AHEAD_BYTES = MAX_HELD_BYTES / 4;

export class Lanes {
  readonly #options: LanesOptions;
  /** Kept while idle too, for the limit they have found; the longest known go first when there are too many. */
  readonly #lanes = new Map<string, Lane>();
  /** Lanes with anything in flight, promised, waiting or left in the store; the least recently claimed for first. */
  readonly #active = new Set<Lane>();
  readonly #slots: Slots;
  /** Jobs that are leased to this node and not started. */
  #waiting = 0;
  /** Payload bytes of all that is leased to this node, waiting or in flight. */
  #heldBytes = 0;
  /** Payload bytes of what is being accepted as leased. */
  #promisedBytes = 0;
  #onEmpty: (() => void)[] = [];
  #stopped = false;
  #claims = 0;
  /** The store has due lanes that nobody has opened for want of room: half of what becomes free is theirs. */
  hasUnopened = false;

  constructor(options: LanesOptions) {
    this.#options = options;
    this.#slots = new Slots(options.maxInFlight);
  }

  /** Resolves when nothing is in flight. */
  empty(): Promise<void> {
    return this.#slots.inFlight === 0 ? Promise.resolve() : new Promise((resolve) => this.#onEmpty.push(resolve));
  }

  /** How many more requests this node may have in flight. */
  get nodeRoom(): number {
    return this.#stopped ? 0 : this.#slots.free;
  }

  /** Whether more may be leased: large payloads wait in the store rather than in memory. */
  get hasMemory(): boolean {
    return this.freeBytes > 0;
  }

  /**
   * Whether there is so much to start that more to come is no hurry. What waits for a slow endpoint counts too: then nothing
   * happens in the turns that an accept rests, and they are over at once.
   */
  get hasPlenty(): boolean {
    return this.#waiting > PLENTY;
  }

  /** How many more bytes of payloads may be leased. */
  get freeBytes(): number {
    return Math.max(0, MAX_HELD_BYTES - this.#heldBytes - this.#promisedBytes);
  }

  /** Promises a place to a delivery that is being accepted; false when it must wait its turn in the store. */
  reserve(endpoint: LaneSettings, bytes: number): boolean {
    const lane = this.configure(endpoint);
    if (lane.directRoom < 1 || this.nodeRoom === 0 || !this.hasMemory) return false;
    this.#promisedBytes += bytes;
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
    if (!mayWait && !(lane.hasSlot && this.#slots.hasOneFor(lane))) return false;
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

  /** Gives a promised place back, with the bytes that were promised: the delivery was not accepted as leased. */
  unreserve(destinationId: string, bytes = 0): void {
    const lane = this.#lane(destinationId);
    this.#freeing(() => {
      this.#promisedBytes -= bytes;
    });
    lane.unreserve();
    this.#settle(lane);
  }

  /** Takes the promised place, and the bytes that were promised. */
  startReserved(job: Job, bytes = 0): void {
    const lane = this.#lane(job.delivery.destinationId);
    this.#promisedBytes -= bytes;
    lane.unreserve();
    this.#enqueue(lane, job);
  }

  startClaimed(job: Job): void {
    const lane = this.#lane(job.delivery.destinationId);
    // Served lanes go behind those that were asked for and got nothing, for want of bytes.
    this.#active.delete(lane);
    this.#enqueue(lane, job);
  }

  /** The attempt is over: its slot is free. */
  finish(job: Job, succeeded: boolean): void {
    this.#slots.giveBack(job);
    this.#freeing(() => {
      this.#heldBytes -= job.delivery.payload.length;
    });
    if (this.#slots.inFlight === 0) for (const resolve of this.#onEmpty.splice(0)) resolve();
    const lane = this.#lane(job.delivery.destinationId);
    lane.finish(succeeded, this.#options.clock.now());
    if (lane.waitingCount > 0) this.#slots.queue(lane);
    this.#serve();
    if (this.hasUnopened && this.nodeRoom > 0) this.#options.onHungry();
    this.#settle(lane);
  }

  /** A delivery was left to the store. */
  leave(destinationId: string): void {
    const lane = this.#lane(destinationId);
    lane.leftDuring = this.#claims;
    lane.hasMore = true;
    this.#settle(lane);
  }

  /** Numbers a claim, for `setHasMore`. */
  beginClaim(): number {
    this.#claims += 1;
    return this.#claims;
  }

  /** What a claim found. It cannot know of what was left while it was under way: answers of a store may cross. */
  setHasMore(destinationId: string, hasMore: boolean, claim: number): void {
    const lane = hasMore ? this.#lane(destinationId) : this.#lanes.get(destinationId);
    if (lane === undefined || (!hasMore && lane.leftDuring >= claim)) return;
    lane.hasMore = hasMore;
    this.#settle(lane);
  }

  /**
   * What to claim for: lanes that have more and room, least recently served first, and full lanes with room 0, so that
   * due work in them is noted as theirs instead of being found again and again.
   */
  wants(maxLanes: number): { destinationId: string; room: number }[] {
    const hungry: Lane[] = [];
    const full: Lane[] = [];
    const nodeRoom = Math.min(
      this.#options.mostPerClaim,
      this.hasUnopened ? Math.floor(this.#leasable / 2) : this.#leasable,
    );
    for (const lane of this.#active) {
      if (hungry.length === maxLanes) break;
      if (lane.isHungry && hungry.length < nodeRoom) hungry.push(lane);
      else if (!lane.hasMore && lane.room === 0 && full.length < maxLanes) full.push(lane);
    }
    for (const lane of [...hungry, ...full]) {
      this.#active.delete(lane);
      this.#active.add(lane);
    }
    return [...shareOut(hungry, nodeRoom), ...full.map(({ destinationId }) => ({ destinationId, room: 0 }))];
  }

  /** How many unknown lanes to open beside those that are asked for by name, and how much to take from each. */
  opens(maxLanes: number, named: readonly { room: number }[]): { lanes: number; room: number } {
    const most = Math.min(this.#leasable, this.#options.mostPerClaim);
    const left = named.reduce((room, lane) => room - lane.room, most);
    if (left <= 0) return { lanes: 0, room: 0 };
    // When not all can be opened, one from each goes further than many from a few.
    const count = Math.min(maxLanes, this.hasUnopened ? left : Math.ceil(left / FIRST_ROOM));
    return { lanes: count, room: Math.min(FIRST_ROOM, Math.floor(left / count)) };
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
    this.#waiting = 0;
    return [...this.#active].flatMap((lane) => lane.drain());
  }

  #enqueue(lane: Lane, job: Job): void {
    this.#active.add(lane);
    this.#heldBytes += job.delivery.payload.length;
    this.#waiting += 1;
    lane.enqueue(job);
    this.#pump(lane);
  }

  /** Lanes that were refused for want of memory ask again once there is some. */
  #freeing(free: () => void): void {
    const wasShort = !this.hasMemory;
    free();
    if (wasShort && this.hasMemory) this.#options.onHungry();
  }

  /** How much more may be leased at once. */
  get #leasable(): number {
    return this.hasMemory ? this.nodeRoom : 0;
  }

  get #aheadMs(): number {
    return this.#heldBytes < MAX_AHEAD_BYTES ? this.#options.aheadMs() : 0;
  }

  #pump(lane: Lane): void {
    while (this.#slots.hasOneFor(lane)) if (!this.#startNext(lane)) return;
    if (lane.waitingCount > 0) this.#slots.queue(lane);
  }

  /** Free slots go to those in line, one each. */
  #serve(): void {
    for (let lane = this.#slots.next(); lane !== undefined; lane = this.#slots.next()) {
      if (this.#startNext(lane) && lane.waitingCount > 0) this.#slots.queue(lane);
    }
  }

  /** False when the lane has nothing to start, or may not by its own limits: it comes back when that changes. */
  #startNext(lane: Lane): boolean {
    if (this.#stopped || lane.isPaced) return false;
    const next = lane.next(this.#options.clock.now());
    if (next === undefined) return false;
    if ('waitMs' in next) {
      this.#pace(lane, next.waitMs);
      return false;
    }
    this.#waiting -= 1;
    this.#slots.take(next, lane);
    this.#options.start(next);
    return true;
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
      lane = new Lane(destinationId, this.#options.laneCeiling, () => this.#aheadMs);
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
    let looks = FORGET_LOOKS;
    for (const [destinationId, lane] of this.#lanes) {
      if (this.#lanes.size <= MAX_IDLE_LANES || looks-- === 0) return;
      this.#lanes.delete(destinationId);
      // A dead lane that is forgotten would come back with an unknown lane's limit: it gets another round.
      const isWorthKeeping = lane.standing === 'failing' && this.#lanes.size < MAX_LANES;
      if (!lane.isIdle || isWorthKeeping) this.#lanes.set(destinationId, lane);
    }
  }
}

/** Divides the room evenly; what one lane has no use for goes to the next. */
function shareOut(lanes: readonly Lane[], room: number): { destinationId: string; room: number }[] {
  let left = room;
  return lanes.map((lane, index) => {
    const share = Math.min(lane.room, Math.max(1, Math.floor(left / (lanes.length - index))));
    left -= share;
    return { destinationId: lane.destinationId, room: share };
  });
}
