/**
 * The node's slots: how many requests it may have in flight, and which lane gets the next free one.
 *
 * Lanes are told apart by what they have shown. Those whose last attempt failed get a quarter of the slots together, for
 * a hundred thousand lanes have more dead ones than a node has slots. Those that succeeded and those that nobody knows
 * yet each leave the other a sixteenth. The last quarter is for lanes that have few requests in flight. Whoever has to
 * wait gets one slot a turn: the wait depends on how many lanes are in line, not on how much each of them has.
 */
import type { Job, Lane, Standing } from './lane.ts';

type Line = Standing | 'busy';

const FEW_IN_FLIGHT = 4;
const LINES: readonly Line[] = ['proven', 'unknown', 'failing', 'busy'];

export class Slots {
  readonly #most: number;
  #inFlight = 0;
  readonly #counts: Record<Standing, number> = { proven: 0, unknown: 0, failing: 0 };
  readonly #lines: Record<Line, Set<Lane>> = {
    proven: new Set(),
    unknown: new Set(),
    failing: new Set(),
    busy: new Set(),
  };
  /** The line that was served last is asked last. */
  #turn = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get free(): number {
    return Math.max(0, this.#most - this.#inFlight);
  }

  hasOneFor(lane: Lane): boolean {
    return this.#isOpen(lineOf(lane), lane.standing);
  }

  take(job: Job, { standing }: Lane): void {
    job.slot = standing;
    this.#inFlight += 1;
    this.#counts[standing] += 1;
  }

  giveBack(job: Job): void {
    if (job.slot === undefined) return;
    this.#inFlight -= 1;
    this.#counts[job.slot] -= 1;
    job.slot = undefined;
  }

  /** Gets in line, or moves to the one that fits by now; who stands in it already keeps the place. */
  queue(lane: Lane): void {
    const line = lineOf(lane);
    for (const each of LINES) if (each !== line) this.#lines[each].delete(lane);
    this.#lines[line].add(lane);
  }

  /** Takes out of the lines the lane whose turn it is, if there is a slot for it. */
  next(): Lane | undefined {
    for (let step = 1; step <= LINES.length; step++) {
      const index = (this.#turn + step) % LINES.length;
      const line = LINES[index] ?? 'busy';
      // Asked for every delivery, and most lines are empty: no iterator is made to find that out.
      if (this.#lines[line].size === 0) continue;
      const first = this.#lines[line].values().next().value;
      if (first === undefined || !this.#isOpen(line, first.standing)) continue;
      this.#turn = index;
      this.#lines[line].delete(first);
      return first;
    }
    return undefined;
  }

  #isOpen(line: Line, standing: Standing): boolean {
    const { proven, unknown, failing } = this.#counts;
    const fifteenSixteenths = this.#most - this.#most / 16;
    if (this.free === 0) return false;
    if ((standing === 'proven' ? proven : unknown + failing) >= fifteenSixteenths) return false;
    if (standing === 'failing') return failing < this.#most / 4;
    return line !== 'busy' || this.free > this.#most / 4;
  }
}

function lineOf({ standing, inFlight }: Lane): Line {
  if (standing === 'failing') return 'failing';
  return inFlight < (standing === 'proven' ? FEW_IN_FLIGHT : 1) ? standing : 'busy';
}
