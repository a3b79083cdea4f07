import { expect, it } from 'vitest';
import { closest } from './closest.ts';

const keys = ['schedule', 'jitter', 'retryBudget', 'retryAfter', 'redirects', 'maxDelayMs'];

it('finds the word that was meant, by letters lost, added, changed, swapped or in the wrong case', () => {
  expect(closest('shedule', keys)).toBe('schedule');
  expect(closest('jitterr', keys)).toBe('jitter');
  expect(closest('retry_after', keys)).toBe('retryAfter');
  expect(closest('redirecst', keys)).toBe('redirects');
  expect(closest('MAXDELAYMS', keys)).toBe('maxDelayMs');
});

it('stays silent when nothing is near', () => {
  expect(closest('banana', keys)).toBeUndefined();
  expect(closest('', keys)).toBeUndefined();
  expect(closest('schedule', [])).toBeUndefined();
  expect(closest('x'.repeat(1_000_000), keys)).toBeUndefined();
});
