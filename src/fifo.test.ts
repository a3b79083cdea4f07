import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fifo } from './fifo.ts';

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
});
