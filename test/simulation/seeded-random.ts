/** Randomness that a seed repeats: the same seed gives the same draws on every machine. */
import { createHash } from 'node:crypto';

export class SeededRandom {
  readonly #name: string;
  readonly #state: Uint32Array;

  constructor(name: string) {
    this.#name = name;
    const digest = createHash('sha256').update(name).digest();
    this.#state = new Uint32Array([0, 4, 8, 12].map((offset) => digest.readUInt32LE(offset)));
  }

  /** A stream of its own: what one part draws does not shift what another one gets. */
  fork(name: string): SeededRandom {
    return new SeededRandom(`${this.#name}/${name}`);
  }

  /** Uniform in [0, 1). */
  draw(): number {
    return this.#next() / 2 ** 32;
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.draw() * (max - min + 1));
  }

  /** Waits of a Poisson process with this mean, in whole milliseconds. */
  gapMs(meanMs: number): number {
    return Math.round(-Math.log(1 - this.draw()) * meanMs);
  }

  readonly fill = (bytes: Uint8Array): void => {
    for (let index = 0; index < bytes.length; index++) bytes[index] = this.#next() & 0xff;
  };

  /** sfc32: small, fast, and passes the usual batteries. */
  #next(): number {
    const state = this.#state;
    const [a = 0, b = 0, c = 0, counter = 0] = state;
    const result = (a + b + counter) >>> 0;
    state[3] = counter + 1;
    state[0] = b ^ (b >>> 9);
    state[1] = c + (c << 3);
    state[2] = ((c << 21) | (c >>> 11)) + result;
    return result;
  }
}
