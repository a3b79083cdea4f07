/** What a sender is told. Strangers read this too: it says what to do, and nothing about secrets or signatures. */
import { closed, isPosthornError } from '../errors.ts';
import type { Answer } from './providers/index.ts';

export type RefusalCode =
  | 'not_found'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'verification_failed'
  | 'invalid_event'
  | 'unknown_event_type'
  | 'bad_request'
  | 'unavailable'
  | 'closed';

const REFUSALS: Readonly<Record<RefusalCode, { readonly status: number; readonly detail: string }>> = {
  not_found: { status: 404, detail: 'There is no source here: check the URL that the provider calls' },
  method_not_allowed: { status: 405, detail: 'Send webhooks with POST' },
  payload_too_large: { status: 413, detail: 'The body is larger than this server takes' },
  unsupported_media_type: {
    status: 415,
    detail: 'The body is compressed: send it as it was signed, without a content-encoding',
  },
  verification_failed: {
    status: 401,
    detail: 'This request could not be verified: check the secret of the source. The server log says more',
  },
  invalid_event: {
    status: 400,
    detail:
      'The body is not an event that this source takes: check its provider and settings. The server log says more',
  },
  unknown_event_type: {
    status: 400,
    detail: 'Nothing here is for events of this type: subscribe to fewer types, or add a handler for it',
  },
  bad_request: { status: 400, detail: 'The request is not one that can be verified' },
  unavailable: { status: 503, detail: 'This cannot be taken right now: send it again in a moment' },
  closed: { status: 503, detail: closed().message },
};

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' };

export function refusal(code: RefusalCode, detail = REFUSALS[code].detail): Answer {
  const headers: Record<string, string> = { ...JSON_HEADERS };
  if (code === 'method_not_allowed') headers.allow = 'POST';
  if (REFUSALS[code].status === 503) headers['retry-after'] = '5';
  return { status: REFUSALS[code].status, headers, body: JSON.stringify({ code, detail }) };
}

/** For what went wrong on our side: whoever sent it sends it again. */
export function failed(error: unknown): Answer {
  return refusal(isPosthornError(error, 'closed') ? 'closed' : 'unavailable');
}

/**
 * 200 and no other 2xx, also for what is handled later: several providers count everything else as a failure, and send it
 * again (Mailgun, Zoom, Linear, Paddle, Meta). `body`: as JSON.
 */
export function accepted(body: string): Answer {
  return { status: 200, headers: JSON_HEADERS, body };
}
