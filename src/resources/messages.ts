/** Messages: publish, look up, list. Publishing is the hot path: it checks in place and compiles nothing. */
import { createHash } from 'node:crypto';
import type { Published } from '../engine/index.ts';
import { invalid, PosthornError } from '../errors.ts';
import type { Message } from '../model/index.ts';
import type { Remembered, SqlClient } from '../store/index.ts';
import { objectArgument } from './argument.ts';
import type { Context, Remember } from './context.ts';
import { findApplication, findMessage } from './lookup.ts';
import { type MessageQuery, timedPage, timeFilter } from './message-query.ts';
import { missing } from './missing.ts';
import { checkName, checkNames, checkUid } from './names.ts';
import { type Listing, listing } from './paging.ts';
import { checkSize, type Payload, toPayloadBytes } from './payload.ts';

export interface PublishInput {
  /** The application's id or uid. */
  readonly application: string;
  readonly eventType: string;
  readonly payload: Payload;
  /** Your own id for the event: a second message with it in the same application is a conflict. */
  readonly eventId?: string;
  readonly channels?: readonly string[];
  readonly tags?: readonly string[];
  /** Publishing again under the same key gives back the first message for 12 hours, and sends nothing. */
  readonly idempotencyKey?: string;
}

export interface PublishOptions {
  /**
   * A PostgreSQL client of your own, inside a transaction of your own: the message exists if, and only if, that commits,
   * and is delivered then. Anything with node-postgres' `query(text, values)`.
   */
  readonly client?: SqlClient;
}

/** A publication whose payload is checked bytes over a buffer of their own. */
export interface CheckedInput extends Omit<PublishInput, 'payload' | 'idempotencyKey'> {
  readonly payload: Uint8Array;
  readonly remember?: Remember<Message>;
}

export interface Messages {
  publish(input: PublishInput, options?: PublishOptions): Promise<Message>;
  /** For callers that bring bytes and an answer to remember. Says what happened; only a taken event id is thrown. */
  accept(input: CheckedInput): Promise<Message | Remembered>;
  /** By the message's id or the publisher's event id. */
  get(application: string, idOrEventId: string): Promise<Message>;
  list(application: string, query?: MessageQuery): Promise<Listing<Message>>;
}

export const DEFAULT_MAX_PAYLOAD_BYTES = 2 * 1024 * 1024;
const REMEMBER_MS = 12 * 60 * 60 * 1000;
const PAYLOAD = ['body', 'payload'];
const EVENT_TYPE = ['body', 'eventType'];
const CHANNELS = { min: 1, max: 5 };
const TAGS = { min: 1, max: 8 };

export function createMessages(context: Context): Messages {
  const { engine, store, clock, maxPayloadBytes = DEFAULT_MAX_PAYLOAD_BYTES } = context;

  async function accept(input: CheckedInput): Promise<Message | Remembered> {
    checkSize(input.payload, maxPayloadBytes);
    return resultOf(input, await engine.publish(checkMarks(input, input.payload, input.remember)));
  }

  function resultOf(input: Pick<PublishInput, 'eventId'>, published: Published): Message | Remembered {
    if (published.kind === 'accepted') return published.message;
    if (published.kind === 'unwanted') throw new Error('a publication is stored whether or not somebody is for it');
    if (published.by === 'key') return published.remembered;
    throw taken(input.eventId, published.messageId);
  }

  async function publish(input: PublishInput, { client }: PublishOptions = {}): Promise<Message> {
    const { idempotencyKey: key } = objectArgument(input);
    const payload = toPayloadBytes(input.payload, PAYLOAD);
    if (client !== undefined) return enqueue(client, { ...input, payload }, key);
    if (key !== undefined) return publishOnce({ ...input, payload }, key);
    // As accept does, without a copy and a promise more: this is how nearly everything is published.
    checkSize(payload, maxPayloadBytes);
    return resultOf(input, await engine.publish(checkMarks(input, payload))) as Message;
  }

  async function publishOnce(input: CheckedInput, key: string): Promise<Message> {
    const fingerprint = fingerprintOf(input.eventType, input.payload);
    const remember = (message: Message): Remembered => ({
      key: `publish:${message.applicationId}:${key}`,
      fingerprint,
      status: 202,
      body: message.id,
      expiresAt: clock.now() + REMEMBER_MS,
    });
    const result = await accept({ ...input, remember });
    if ('id' in result) return result;
    if (result.fingerprint === fingerprint) return messages.get(input.application, result.body);
    throw new PosthornError(
      'idempotency_key_reused',
      `The idempotency key ${JSON.stringify(key)} belongs to another message; use a new key for each`,
    );
  }

  async function enqueue(client: SqlClient, input: CheckedInput, key: string | undefined): Promise<Message> {
    if (context.enqueue === undefined) throw notShared();
    if (key !== undefined)
      throw invalid(['idempotencyKey'], 'cannot go into your transaction: give an eventId instead');
    if (typeof client?.query !== 'function') throw invalid(['client'], 'must have query(text, values)', 'type_error');
    checkSize(input.payload, maxPayloadBytes);
    const { application, eventType, payload, eventId, channels, tags } = checkMarks(input, input.payload);
    const message: Message = {
      id: context.ids.next('msg'),
      applicationId: application,
      eventType,
      payload,
      createdAt: clock.now(),
      ...(eventId !== undefined && { eventId }),
      ...(channels !== undefined && { channels }),
      ...(tags !== undefined && { tags }),
    };
    const queued = await context.enqueue(client, message);
    if (queued.kind === 'queued') return { ...message, applicationId: queued.applicationId };
    if (queued.kind === 'duplicate') throw taken(eventId, queued.messageId);
    throw missing('application', application);
  }

  const messages: Messages = {
    publish,
    accept,

    async get(application, idOrEventId) {
      const { id } = await findApplication(store, application);
      return findMessage(store, id, idOrEventId);
    },

    async list(application, query = {}) {
      const { id: applicationId } = await findApplication(store, application);
      const page = await store.listMessages({
        applicationId,
        ...timeFilter(query),
        ...(query.channel !== undefined && { channel: query.channel }),
        ...(query.tag !== undefined && { tag: query.tag }),
        ...timedPage(query, 'msg'),
      });
      return listing(
        page,
        ({ id }) => id,
        (message) => message,
      );
    },
  };
  return messages;
}

/** Callers in plain JavaScript may pass anything, more than is asked for too. */
function checkMarks(
  { application, eventType, eventId, channels, tags }: Omit<CheckedInput, 'payload' | 'remember'>,
  payload: Uint8Array,
  remember?: Remember<Message>,
): CheckedInput {
  if (typeof application !== 'string') throw notText('application');
  if (typeof eventType !== 'string') throw notText('eventType');
  checkName(eventType, EVENT_TYPE);
  const checked: { -readonly [K in keyof CheckedInput]: CheckedInput[K] } = { application, eventType, payload };
  if (eventId !== undefined) {
    if (typeof eventId !== 'string') throw notText('eventId');
    checked.eventId = checkUid(eventId, 'msg', ['body', 'eventId']);
  }
  if (channels !== undefined) checked.channels = checkList(channels, 'channels', CHANNELS);
  if (tags !== undefined) checked.tags = checkList(tags, 'tags', TAGS);
  if (remember !== undefined) checked.remember = remember;
  return checked;
}

function checkList(names: readonly string[], field: string, range: typeof CHANNELS): readonly string[] {
  if (!Array.isArray(names) || names.some((name) => typeof name !== 'string')) {
    throw invalid(['body', field], 'must be a list of strings', 'type_error');
  }
  return checkNames(names, ['body', field], range);
}

function notText(field: string): PosthornError {
  return invalid(['body', field], 'must be a string', 'type_error');
}

function fingerprintOf(eventType: string, payload: Uint8Array): string {
  return createHash('sha256').update(eventType).update('\n').update(payload).digest('base64url');
}

function notShared(): PosthornError {
  return new PosthornError(
    'validation',
    'A client can be given on PostgreSQL only (POSTHORN_STORE=postgres://…), with a client of the same database. On SQLite publish after your commit, with an eventId, and repeat what failed.',
  );
}

function taken(eventId: string | undefined, messageId: string): PosthornError {
  return new PosthornError(
    'conflict',
    `The event id ${JSON.stringify(eventId)} belongs to message ${messageId}, which was accepted before; nothing was sent again`,
  );
}
