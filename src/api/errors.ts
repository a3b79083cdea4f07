/**
 * Every failure as an answer. The bodies are those that the Svix SDKs parse: `{code, detail}`, and for bad input
 * `{detail: [{loc, msg, type}]}`. What went wrong on our side is logged, never told.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, type Issue, isPosthornError, type PosthornError } from '../errors.ts';
import { issueOf } from './validation.ts';

export interface ErrorBody {
  readonly code: string;
  readonly detail: string;
}

interface Answer {
  readonly status: number;
  readonly body: ErrorBody | { readonly detail: readonly Issue[] };
}

const STATUS: Readonly<Record<ErrorCode, number>> = {
  validation: 422,
  not_found: 404,
  conflict: 409,
  idempotency_key_reused: 409,
  endpoint_not_active: 409,
  authentication_failed: 401,
  insufficient_access: 403,
  payload_too_large: 413,
  unsupported_media_type: 415,
  missing_payload: 400,
  limit_reached: 400,
  config_invalid: 500,
  store_locked: 503,
  store_unavailable: 503,
  store_too_new: 503,
  queue_unavailable: 503,
  not_ready: 503,
  closed: 503,
};

export function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const { status, body } = toAnswer(error, request);
  if (status >= 500)
    request.log.error({ err: error, method: request.method, route: request.routeOptions.url }, 'request failed');
  if (status === 401) void reply.header('www-authenticate', 'Bearer');
  if (status === 503) void reply.header('retry-after', '1');
  void reply.code(status).send(body);
}

function toAnswer(error: FastifyError, request: FastifyRequest): Answer {
  if (isPosthornError(error)) {
    const status = STATUS[error.code];
    if (status >= 500)
      return isUndecided(error, request) ? undecided(error.code) : failure(status, error.code, request);
    if (error.code !== 'validation') return { status, body: { code: error.code, detail: error.message } };
    const whole: Issue = { loc: ['body'], msg: error.message, type: 'value_error' };
    return { status, body: { detail: error.issues.length > 0 ? error.issues : [whole] } };
  }
  if (error.validation !== undefined) {
    const part = error.validationContext ?? 'body';
    return { status: 422, body: { detail: error.validation.map((each) => issueOf(each, part)) } };
  }
  return frameworkAnswer(error, request);
}

/** What Fastify refuses before a handler runs. */
function frameworkAnswer(error: FastifyError, request: FastifyRequest): Answer {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return refusal(
        413,
        'payload_too_large',
        `The body is larger than the ${request.routeOptions.bodyLimit} bytes that are taken`,
      );
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return refusal(
        415,
        'unsupported_media_type',
        'Send the body as JSON, with the header "content-type: application/json"',
      );
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return refusal(400, 'bad_request', 'The body does not have the length that content-length says');
    case 'FST_ERR_BAD_URL':
      return refusal(400, 'bad_request', 'The path is not a valid URL; percent-encode what is special in it');
  }
  const { statusCode = 500 } = error;
  if (statusCode >= 400 && statusCode < 500) return refusal(statusCode, 'bad_request', error.message);
  return failure(500, 'internal_error', request);
}

function refusal(status: number, code: string, detail: string): Answer {
  return { status, body: { code, detail } };
}

/** The store's answer was lost, perhaps after its commit. */
function isUndecided({ code, nothingStored }: PosthornError, { method }: FastifyRequest): boolean {
  return code === 'store_unavailable' && !nothingStored && method !== 'GET' && method !== 'HEAD';
}

function undecided(code: ErrorCode): Answer {
  const detail =
    'The store does not answer, and nobody knows whether this was done: send it again with the same idempotency-key or, for a message, the same eventId, and it is done once';
  return refusal(503, code, detail);
}

function failure(status: number, code: string, request: FastifyRequest): Answer {
  const detail =
    status === 503
      ? 'The server cannot do this right now; try again in a moment'
      : `Something went wrong on our side; the server's log has it as request ${request.id}`;
  return { status, body: { code: status === 503 ? code : 'internal_error', detail } };
}
