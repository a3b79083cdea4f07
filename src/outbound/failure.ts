import type { ErrorKind } from '../model/index.ts';

/** Why there is no answer. A subclass of Error only because undici hands a connector's failure on as one. */
export class Failure extends Error {
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** `10 s`, `250 ms`, `1.5 s`: a time limit for a person. */
export function durationText(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}
