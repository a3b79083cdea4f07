import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fifo } from './fifo.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('Fifo', () => {
  it('does what an array with push and shift does', () => {
    const steps = fc.array(fc.oneof(fc.constant('shift' as const), fc.integer({ min: 1, max: 200 })), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(steps, (all) => {
        const fifo = new Fifo<number>();
        const model: number[] = [];
        let last = 0;
        for (const step of all) {
          if (step === 'shift') {
            for (let i = 0; i < 90; i++) expect(fifo.shift()).toBe(model.shift());
          } else {
            for (let i = 0; i < step; i++) {
              fifo.push(++last);
              model.push(last);
            }
          }
          expect(fifo.length).toBe(model.length);
        }
        expect(fifo.drain()).toEqual(model);
        expect(fifo.length).toBe(0);
      }),
    );
  });

  it('keeps nothing of what it has handed out', async () => {
    const fifo = new Fifo<object>();
    const refs = Array.from({ length: 60 }, () => {
      const item = { bytes: new Uint8Array(1000) };
      fifo.push(item);
      return new WeakRef(item);
    });
    for (let i = 0; i < 60; i++) fifo.shift();
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    expect(refs.filter((ref) => ref.deref() !== undefined)).toEqual([]);
    expect(fifo.length).toBe(0);
  });
});
