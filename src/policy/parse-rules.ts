import { type Condition, ERROR_KINDS, type Rule } from '../model/index.ts';
import { closest } from './closest.ts';
import { isCondition, statusRange } from './condition.ts';
import { type FieldReader, type Loc, quote } from './field-reader.ts';
import { POLICY_LIMITS } from './policy-defaults.ts';

type Verb = Rule['then'];
const VERBS: readonly Verb[] = ['retry', 'reject'];

export function parseRules(read: FieldReader, value: unknown, loc: Loc): readonly Rule[] {
  const rules = read.array(value, loc, POLICY_LIMITS.rules) ?? [];
  return rules.flatMap((rule, index) => parseRule(read, rule, [...loc, String(index)]) ?? []);
}

function parseRule(read: FieldReader, value: unknown, loc: Loc): Rule | undefined {
  const fields = read.object(value, loc, ['when', 'then']);
  if (fields === undefined) return undefined;
  const then = read.choice(fields.then, [...loc, 'then'], VERBS);
  const conditions = read.array(fields.when, [...loc, 'when'], POLICY_LIMITS.conditions);
  if (conditions?.length === 0) read.issue([...loc, 'when'], 'must name at least one condition');
  const when = (conditions ?? []).flatMap(
    (condition, index) => parseCondition(read, condition, then, [...loc, 'when', String(index)]) ?? [],
  );
  return then && { when, then };
}

function parseCondition(read: FieldReader, value: unknown, then: Verb | undefined, loc: Loc): Condition | undefined {
  if (!isCondition(value)) {
    const near = typeof value === 'string' ? nearest(value) : undefined;
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    return read.issue(loc, `must be a status (429), "5xx", "520-527" or an error kind, not ${quote(value)}${hint}`);
  }
  const range = statusRange(value);
  // A rule that is never asked would let its author believe that it works.
  if (range !== undefined && range[0] >= 200 && range[1] <= 299) {
    return read.issue(loc, '2xx is always success; a rule cannot change that');
  }
  if (value === 410 && then === 'retry') {
    return read.issue(loc, '410 always disables the endpoint; a rule cannot change that');
  }
  return value;
}

function nearest(word: string): string | undefined {
  if (/^[1-9]\d\d$/.test(word)) return `${word} (a number)`;
  const near = closest(word, [...ERROR_KINDS, '1xx', '3xx', '4xx', '5xx']);
  return near === undefined ? undefined : `"${near}"`;
}
