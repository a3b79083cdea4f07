import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PosthornError } from '../errors.ts';
import { parsePolicy } from './parse-policy.ts';
import { POLICY_DEFAULTS } from './policy-defaults.ts';
import { PRESET_NAMES, presets } from './presets.ts';
import { rejectOn, retryOn } from './rule.ts';

const DAY_MS = 86_400_000;

function refusal(input: unknown): PosthornError {
  try {
    parsePolicy(input, ['body', 'policy']);
  } catch (error) {
    expect(error).toBeInstanceOf(PosthornError);
    return error as PosthornError;
  }
  throw new Error(`taken: ${JSON.stringify(input)}`);
}

/** The issues as `path: message`, without the common start of the path. */
function issues(input: unknown): string[] {
  return refusal(input).issues.map(({ loc, msg }) => `${loc.slice(2).join('.')}: ${msg}`);
}

describe('what a user may leave out', () => {
  it('an empty policy is the documented defaults, frozen', () => {
    const policy = parsePolicy({}, []);
    expect(policy).toEqual(POLICY_DEFAULTS);
    expect(Object.isFrozen(policy)).toBe(true);
  });

  it('SPI-05 redirects are a failure in every policy that does not say', () => {
    expect(parsePolicy({ schedule: { kind: 'explicit', delaysMs: [1000] } }, []).redirects).toBe('failure');
  });

  it('an empty schedule means one attempt', () => {
    expect(parsePolicy({ schedule: { kind: 'explicit', delaysMs: [] } }, []).schedule).toEqual({
      kind: 'explicit',
      delaysMs: [],
    });
  });

  it('extends takes a preset and changes what is written, timeouts and retryAfter key by key', () => {
    const { policy } = presets['public-api'];
    const jitter = { kind: 'hash', basisPoints: 500 };
    const own = parsePolicy(
      { extends: 'public-api', timeouts: { totalMs: 3000 }, retryAfter: { capMs: 5 }, jitter },
      [],
    );
    expect(own).toEqual({
      ...policy,
      jitter,
      timeouts: { connectMs: 5000, totalMs: 3000 },
      retryAfter: { honour: true, capMs: 5 },
    });
    expect(Object.isFrozen(own.timeouts) && Object.isFrozen(own.jitter)).toBe(true);
  });

  it('SPI-14 extends replaces a schedule whole', () => {
    const schedule = { kind: 'explicit', delaysMs: [1000, 2000] };
    expect(parsePolicy({ extends: 'quick', schedule }, []).schedule).toEqual(schedule);
  });

  it.each(PRESET_NAMES)('%s survives JSON and parsing unchanged', (name) => {
    const { policy } = presets[name];
    expect(parsePolicy(JSON.parse(JSON.stringify(policy)), [])).toEqual(policy);
    expect(parsePolicy({ extends: name }, [])).toEqual(policy);
  });

  it('does not touch or freeze the input', () => {
    const input = { schedule: { kind: 'explicit', delaysMs: [1000] }, rules: [rejectOn('4xx')] };
    parsePolicy(input, []);
    expect(Object.isFrozen(input) || Object.isFrozen(input.schedule) || Object.isFrozen(input.rules[0])).toBe(false);
  });
});

describe('what is refused', () => {
  it('reports everything at once, with the place of each', () => {
    const error = refusal({ redirects: 'maybe', retryBudget: -1, timeouts: { totalMs: '10s' } });
    expect(error.code).toBe('validation');
    expect(error.issues.map((issue) => issue.loc.join('.')).sort()).toEqual([
      'body.policy.redirects',
      'body.policy.retryBudget',
      'body.policy.timeouts.totalMs',
    ]);
    expect(error.message).toContain('body.policy.retryBudget: must be from 0 to 100, not -1');
  });

  it('asks "did you mean" for a misspelt key, value, preset or error kind', () => {
    expect(issues({ shedule: {} })).toEqual(['shedule: unknown key "shedule"; did you mean "schedule"?']);
    expect(issues({ banana: 1 })).toEqual([
      expect.stringMatching(/^banana: unknown key "banana"; the keys are "extends", "schedule", .*"onExhausted"$/),
    ]);
    expect(issues({ extends: 'public_api' })[0]).toContain('did you mean "public-api"?');
    expect(issues({ redirects: 'folow' })[0]).toContain('did you mean "follow"?');
    expect(issues({ rules: [retryOn('time_out')] })[0]).toContain('did you mean "timeout"?');
    expect(issues({ rules: [retryOn('429')] })[0]).toContain('did you mean 429 (a number)?');
    expect(issues({ jitter: { kind: 'ful' } })[0]).toContain('did you mean "full"?');
    expect(issues({ timeouts: { total: 5 } })[0]).toContain('did you mean "totalMs"?');
  });

  it('tells whoever writes a name where an object belongs how to extend a preset', () => {
    expect(issues('public-api')).toEqual([': must be an object; for a preset write {"extends": "public-api"}']);
  });

  const schedule = (fields: object) => ({
    schedule: { kind: 'exponential', baseMs: 1, factor: 2, capMs: 9, retries: 1, ...fields },
  });
  it.each([
    ['no object', 7],
    ['null', null],
    ['a list', []],
    ['a null schedule', { schedule: null }],
    ['a schedule without kind', { schedule: { delaysMs: [1] } }],
    ['a kind from the prototype', { schedule: { kind: 'constructor' } }],
    ['a delay of 0', { schedule: { kind: 'explicit', delaysMs: [0] } }],
    ['a negative delay', { schedule: { kind: 'explicit', delaysMs: [-1] } }],
    ['a fraction of a millisecond', { schedule: { kind: 'explicit', delaysMs: [1.5] } }],
    ['a delay over 30 days', { schedule: { kind: 'explicit', delaysMs: [30 * DAY_MS + 1] } }],
    ['more than 100 retries', { schedule: { kind: 'explicit', delaysMs: new Array(101).fill(1) } }],
    ['more than 100 exponential retries', schedule({ retries: 101 })],
    ['a factor under 1', schedule({ factor: 0.5 })],
    ['a factor over 100', schedule({ factor: 101 })],
    ['an endless factor', schedule({ factor: Number.POSITIVE_INFINITY })],
    ['a cap below the base', schedule({ baseMs: 10, capMs: 9 })],
    ["another kind's key", schedule({ delaysMs: [1] })],
    ['a missing number', { schedule: { kind: 'exponential', baseMs: 1, factor: 2, capMs: 9 } }],
    ['jitter that could make a delay negative', { jitter: { kind: 'proportional', below: 1.1, above: 0 } }],
    ['BUD-01 basis points over 10000', { jitter: { kind: 'hash', basisPoints: 10_001 } }],
    ['BUD-01 negative basis points', { jitter: { kind: 'hash', basisPoints: -1 } }],
    ['a timeout of 0', { timeouts: { connectMs: 0 } }],
    ['a timeout over 10 minutes', { timeouts: { totalMs: 600_001 } }],
    ['a number that is none', { windowMs: Number.NaN }],
    ['a yes that is no boolean', { retryAfter: { honour: 'yes' } }],
    ['a rule without conditions', { rules: [rejectOn()] }],
    ['a rule against success', { rules: [rejectOn('2xx')] }],
    ['a rule that retries 410', { rules: [retryOn(410)] }],
    ['a status that HTTP does not have', { rules: [retryOn(42)] }],
    ['a range that runs backwards', { rules: [retryOn('527-520')] }],
    ['a rule that is no object', { rules: ['retry'] }],
    ['a null value', { retryBudget: null }],
    ['a polluted prototype', JSON.parse('{"__proto__": {"retryBudget": 1}}')],
  ])('%s', (_name, input) => {
    expect(refusal(input).issues).toHaveLength(1);
  });

  it('keeps the answer short when a document is wrong in a thousand places', () => {
    const input = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`key${index}`, 1]));
    const error = refusal(input);
    expect(error.issues).toHaveLength(50);
    expect(error.message).toMatch(/and 950 more$/);
  });

  it('never throws anything but a PosthornError, whatever the JSON', () => {
    const keys = [...Object.keys(POLICY_DEFAULTS), 'extends', '__proto__', 'kind'];
    const value = fc.oneof(
      fc.jsonValue(),
      fc.record({ kind: fc.constantFrom('explicit', 'exponential', 'hash', 'full', 7), delaysMs: fc.jsonValue() }),
      fc.array(
        fc.tuple(fc.jsonValue(), fc.constantFrom('retry', 'reject', null)).map(([when, then]) => ({ when, then })),
      ),
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...keys), value)), (input) => {
        try {
          const policy = parsePolicy(input, ['body']);
          expect(parsePolicy(JSON.parse(JSON.stringify(policy)), [])).toEqual(policy);
        } catch (error) {
          expect(error).toBeInstanceOf(PosthornError);
          expect((error as PosthornError).issues.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
