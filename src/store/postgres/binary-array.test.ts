import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ElementType, toBinaryArray } from './binary-array.ts';

describe('arrays in binary form', () => {
  let client: pg.Client;
  beforeAll(async () => {
    client = new pg.Client({ connectionString: process.env.POSTHORN_TEST_POSTGRES_URL });
    await client.connect();
  });
  afterAll(() => client.end());

  async function read(type: ElementType, values: readonly (string | number | boolean | null)[]): Promise<unknown> {
    const { rows } = await client.query(`SELECT to_json($1::${type}[])::text AS json`, [toBinaryArray(type, values)]);
    return JSON.parse(rows[0].json);
  }

  const text = fc.string({ unit: 'grapheme' }).filter((each) => !each.includes('\0'));

  it('arrive as they are, whatever is in a text and wherever it ends', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(text, fc.constant(null)), { minLength: 1 }), async (values) => {
        const expected = values.every((value) => value === null) ? null : values;
        expect(await read('text', values)).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it.each<[ElementType, (string | number | boolean | null)[]]>([
    // As many bytes as characters fit, and one that does not: what is cut off must not pass for the whole.
    ['text', ['abé€']],
    ['text', ['é', 'ab']],
    ['text', []],
    ['bigint', [0, -1, 2 ** 53 - 1, -(2 ** 53 - 1), null, 2 ** 32, -(2 ** 32)]],
    ['int', [0, -1, 2 ** 31 - 1, -(2 ** 31), null]],
    ['boolean', [true, false, null]],
  ])('%s %j', async (type, values) => {
    expect(await read(type, values)).toEqual(values);
  });
});
