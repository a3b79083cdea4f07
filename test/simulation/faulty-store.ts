/** The store as one process sees it on a bad day: any operation may fail before or after it was done, or answer late. */
import type { Clock } from '../../src/clock.ts';
import type { Store } from '../../src/store/index.ts';
import type { Gate } from './gate.ts';
import type { SeededRandom } from './seeded-random.ts';

export interface FaultyStoreOptions {
  readonly clock: Clock;
  readonly gate: Gate;
  readonly random: SeededRandom;
  /** How likely each kind of fault is at this moment. */
  readonly faultShare: () => number;
}

const USUAL_MS = 4;
const LATE_MS = 3000;

export function createFaultyStore(inner: Store, { clock, gate, random, faultShare }: FaultyStoreOptions): Store {
  async function call(name: keyof Store, input: never): Promise<unknown> {
    const share = faultShare();
    const fault = random.draw();
    const latencyMs = random.between(0, fault > 1 - share ? LATE_MS : USUAL_MS);
    const isRefused = fault < share;
    const isUnanswered = !isRefused && fault < 2 * share;
    await pause(latencyMs / 2);
    if (isRefused) throw new Error(`${name} refused`);
    const answer = await (inner[name] as (input: never) => Promise<unknown>)(input);
    await pause(latencyMs / 2);
    if (isUnanswered) throw new Error(`${name} done, but its answer is lost`);
    return answer;
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => clock.after(Math.ceil(ms), resolve));
  }

  return new Proxy(inner, {
    get(target, name: keyof Store) {
      if (name === 'watch' || name === 'close') return target[name];
      return (input: never) =>
        new Promise((resolve, reject) => {
          call(name, input).then(
            (answer) => gate.pass(() => resolve(answer)),
            (error) => gate.pass(() => reject(error)),
          );
        });
    },
  });
}
