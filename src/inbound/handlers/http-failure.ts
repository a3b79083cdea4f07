/** HTTP errors as fetch, axios, got, ky, Octokit and Stripe throw them. */

export interface HttpFailure {
  readonly status: number;
  readonly retryAfter?: string;
}

interface Answerlike {
  readonly status?: unknown;
  readonly statusCode?: unknown;
  readonly headers?: unknown;
}

/** Undefined when it is no HTTP error, or one that had no answer. */
export function httpFailure(error: object): HttpFailure | undefined {
  const { response } = error as { response?: unknown };
  const answer = typeof response === 'object' && response !== null ? (response as Answerlike) : undefined;
  const status = [answer?.status, answer?.statusCode, (error as Answerlike).status, (error as Answerlike).statusCode]
    .map(Number)
    // Only failures: an error that carries a 200, or a redirect, must never count as success.
    .find((code) => Number.isInteger(code) && code >= 400 && code <= 599);
  if (status === undefined) return undefined;
  const retryAfter = header(answer?.headers, 'retry-after') ?? header((error as Answerlike).headers, 'retry-after');
  return { status, ...(retryAfter === undefined ? {} : { retryAfter }) };
}

function header(headers: unknown, name: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const { get } = headers as { get?: unknown };
  const value: unknown =
    typeof get === 'function'
      ? get.call(headers, name)
      : Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
