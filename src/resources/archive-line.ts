/**
 * A dead letter as one line of JSON, with everything that it takes to bring it back, and a line read again. Bytes that are
 * text are written as text, so that an archive can be searched with the tools that everybody has.
 */
import { isUtf8 } from 'node:buffer';
import { Ajv, type ValidateFunction } from 'ajv';
import { invalid } from '../errors.ts';
import type { Message } from '../model/index.ts';
import type { ArchivedDelivery } from '../store/index.ts';

interface Line extends Omit<ArchivedDelivery, 'message'> {
  readonly version: 1;
  readonly message: Omit<Message, 'payload'> & {
    readonly payload: string;
    readonly payloadEncoding: 'utf8' | 'base64';
  };
}

/** For JSON these are characters like any other; for many a tool they end a line. */
const ENDS_LINE = /[\u2028\u2029]/g;

/** Without the line feed. */
export function toArchiveLine({ delivery, message, attempts }: ArchivedDelivery): string {
  const { payload: bytes, ...rest } = message;
  const payloadEncoding = isUtf8(bytes) ? 'utf8' : 'base64';
  const payload = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(payloadEncoding);
  const line: Line = { version: 1, delivery, message: { ...rest, payload, payloadEncoding }, attempts };
  return JSON.stringify(line).replace(ENDS_LINE, (end) => (end === '\u2028' ? '\\u2028' : '\\u2029'));
}

/** `loc` says which line, for whoever has to find it. */
export function fromArchiveLine(text: string, loc: readonly string[]): ArchivedDelivery {
  const line = parse(text, loc);
  validate ??= new Ajv({ allowUnionTypes: true }).compile(LINE);
  if (!validate(line)) {
    const [problem] = validate.errors ?? [];
    const place = problem?.instancePath.split('/').slice(1).join('.') ?? '';
    const extra = problem?.keyword === 'additionalProperties' ? ` (${problem.params.additionalProperty})` : '';
    throw invalid(loc, `is not a dead letter's: ${place === '' ? '' : `${place} `}${problem?.message}${extra}`);
  }
  const { delivery, message: written, attempts } = line as Line;
  const { payload, payloadEncoding, ...rest } = written;
  const whole = delivery.messageId === rest.id && delivery.applicationId === rest.applicationId;
  if (!whole || attempts.some(({ deliveryId, messageId }) => deliveryId !== delivery.id || messageId !== rest.id)) {
    throw invalid(loc, 'is not whole: its delivery, message and attempts do not belong together');
  }
  // Over a buffer of its own, never a slice of the pool: it crosses to the store's thread.
  return { delivery, message: { ...rest, payload: Uint8Array.from(Buffer.from(payload, payloadEncoding)) }, attempts };
}

function parse(text: string, loc: readonly string[]): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(loc, `is not valid JSON: ${(error as Error).message}`, 'value_error.jsondecode');
  }
}

const text = { type: 'string' };
const id = (prefix: string) => ({ type: 'string', pattern: `^${prefix}_[0-9A-Za-z]{1,64}$` });
const owner = id('(app|src)');
const destination = id('(ep|hdl)');
const time = { type: 'integer', minimum: 0 };
const count = { type: 'integer', minimum: 0 };
const trigger = { enum: ['scheduled', 'manual'] };
const texts = { type: 'array', items: text };
const exactly = (required: object, optional: object = {}) => ({
  type: 'object',
  properties: { ...required, ...optional },
  required: Object.keys(required),
  additionalProperties: false,
});
const identity = { messageId: id('msg'), applicationId: owner, destinationId: destination, eventType: text, trigger };
const decision = {
  type: 'object',
  properties: { kind: { enum: ['delivered', 'retry', 'dead'] }, reason: text },
  required: ['kind', 'reason'],
};

const LINE = exactly({
  version: { const: 1 },
  delivery: exactly(
    {
      ...identity,
      id: id('dlv'),
      state: { const: 'dead' },
      attempts: count,
      scheduleAttempts: count,
      createdAt: time,
      updatedAt: time,
      reason: text,
      deadCause: { enum: ['exhausted', 'rejected'] },
      deadAt: time,
      fingerprint: { type: 'string', pattern: '^([0-9a-f]{12}|unknown)$' },
      lastError: text,
    },
    { maxAttempts: count, firstAttemptAt: time, dueAt: time },
  ),
  message: exactly(
    {
      id: id('msg'),
      applicationId: owner,
      eventType: text,
      createdAt: time,
      payload: text,
      payloadEncoding: { enum: ['utf8', 'base64'] },
    },
    {
      eventId: text,
      channels: texts,
      tags: texts,
      headers: { type: 'object', additionalProperties: text },
      contentType: text,
      conflicts: count,
    },
  ),
  attempts: {
    type: 'array',
    items: exactly(
      {
        ...identity,
        id: id('atmpt'),
        deliveryId: id('dlv'),
        number: count,
        url: text,
        startedAt: time,
        durationMs: count,
        status: count,
        response: text,
        responseTruncated: { type: 'boolean' },
        decision,
      },
      { error: text },
    ),
  },
});
let validate: ValidateFunction | undefined;
