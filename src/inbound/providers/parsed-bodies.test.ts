import { describe, expect, it } from 'vitest';
import { parseJson, takeJson } from './parsed-bodies.ts';

const bodyOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

describe('parsed bodies', () => {
  it('are read any number of times, and taken once: who changes what it took changes nobody else’s', () => {
    const body = bodyOf({ id: 'evt_1', data: { total: 1 } });
    const read = parseJson(body);
    expect(parseJson(body)).toBe(read);
    const taken = takeJson(body) as { data: { total: number } };
    expect(taken).toBe(read);
    taken.data.total = 2;
    expect(takeJson(body)).toEqual({ id: 'evt_1', data: { total: 1 } });
    expect(parseJson(body)).toEqual({ id: 'evt_1', data: { total: 1 } });
  });

  it('are forgotten when many others have come, or when they are large', () => {
    const body = bodyOf({ id: 'evt_2' });
    const large = bodyOf({ id: 'evt_3', text: 'x'.repeat(20_000) });
    const [read, readLarge] = [parseJson(body), parseJson(large)];
    expect(takeJson(large)).not.toBe(readLarge);
    for (let n = 0; n < 600; n++) parseJson(bodyOf({ n, text: 'x'.repeat(1000) }));
    expect(takeJson(body)).toEqual(read);
    expect(takeJson(body)).not.toBe(read);
  });

  it('are told apart by their bytes in memory, not by what they say', () => {
    const [one, two] = [bodyOf({ id: 'evt_4' }), bodyOf({ id: 'evt_4' })];
    expect(parseJson(one)).not.toBe(parseJson(two));
  });

  it('throws for what is no JSON, each time', () => {
    const body = new TextEncoder().encode('{');
    expect(() => parseJson(body)).toThrow(SyntaxError);
    expect(() => takeJson(body)).toThrow(SyntaxError);
  });
});
