import { type Condition, ERROR_KINDS } from '../model/index.ts';

const STATUS_CLASS = /^([1-9])xx$/;
const STATUS_RANGE = /^([1-9]\d\d)-([1-9]\d\d)$/;

/** The statuses that a condition names, both ends included; undefined for an error kind or for nonsense. */
export function statusRange(condition: Condition): readonly [number, number] | undefined {
  if (typeof condition === 'number') {
    return Number.isInteger(condition) && condition >= 100 && condition <= 999 ? [condition, condition] : undefined;
  }
  const hundreds = STATUS_CLASS.exec(condition)?.[1];
  if (hundreds !== undefined) return [Number(hundreds) * 100, Number(hundreds) * 100 + 99];
  const range = STATUS_RANGE.exec(condition);
  if (range === null) return undefined;
  const [from, to] = [Number(range[1]), Number(range[2])];
  return from <= to ? [from, to] : undefined;
}

export function matchesStatus(condition: Condition, status: number): boolean {
  const range = statusRange(condition);
  return range !== undefined && status >= range[0] && status <= range[1];
}

/** Whether this can match anything at all. */
export function isCondition(value: unknown): value is Condition {
  if (typeof value === 'number') return statusRange(value) !== undefined;
  if (typeof value !== 'string') return false;
  return (ERROR_KINDS as readonly string[]).includes(value) || statusRange(value) !== undefined;
}
