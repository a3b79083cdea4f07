import type { Answer, Verdict } from './provider.ts';

export const VERIFIED: Verdict = { kind: 'verified' };

export function refused(reason: string): Verdict {
  return { kind: 'refused', reason };
}

export function unavailable(reason: string): Verdict {
  return { kind: 'unavailable', reason };
}

export function answer(response: Answer): Verdict {
  return { kind: 'answer', ...response };
}

/** Challenges echo what a request said: as plain text, and never sniffed into a page. */
export function textAnswer(body: string): Verdict {
  return answer({
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body,
  });
}

export function jsonAnswer(value: unknown): Verdict {
  return answer({ status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) });
}
