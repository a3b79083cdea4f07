import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { invalid, isPosthornError } from '../../errors.ts';
import type { Message } from '../../model/index.ts';
import { type CheckedInput, type Remember, toPayloadBytes } from '../../resources/index.ts';
import type { Remembered } from '../../store/index.ts';
import type { RouteGroup } from '../api.ts';
import { AppPath, ListOf } from '../contract.ts';
import { ContentQuery, MessageIn, MessageListQuery, MessageOut, MessagePath } from '../contract-delivery.ts';
import { replay } from '../idempotency.ts';
import { memberText } from '../member-text.ts';
import { listText, messageText, sendText } from '../message-text.ts';
import { readTimeQuery } from '../time-query.ts';

const tags = ['Message'];

export const messageRoutes: RouteGroup = (api, { resources: { messages, applications } }) => {
  /** The application is made only when the message itself has been found good, so that a bad one leaves nothing. */
  async function accept(input: CheckedInput, { application }: MessageIn): Promise<Message | Remembered> {
    try {
      return await messages.accept(input);
    } catch (error) {
      if (application == null || !isPosthornError(error, 'not_found')) throw error;
    }
    const uid = application.uid ?? input.application;
    if (uid !== input.application) throw invalid(['body', 'application', 'uid'], 'must be the uid that the path names');
    await applications.create({ ...application, uid }, { getIfExists: true });
    return messages.accept(input);
  }

  api.post(
    '/app/:app/msg',
    {
      config: { recallsInCommit: true },
      schema: {
        tags,
        operationId: 'v1.message.create',
        summary: 'Publish a message to the endpoints of an application',
        params: AppPath,
        querystring: Type.Object(ContentQuery),
        body: MessageIn,
        response: { 202: MessageOut },
      },
    },
    async (request, reply) => {
      const { params, body, query } = request;
      const withContent = query.with_content ?? true;
      const { eventType, eventId, channels, tags } = body;
      if (body.deliverAt != null) {
        throw invalid(['body', 'deliverAt'], 'is not possible here; publish the message when it is to be sent');
      }
      const toText = (message: Message) => messageText(message, withContent);
      const remember = rememberingText(request, toText);
      const input: CheckedInput = {
        application: params.app,
        eventType,
        payload: payloadOf(request),
        ...(eventId != null && { eventId }),
        ...(channels != null && { channels }),
        ...(tags != null && { tags }),
        ...(remember !== undefined && { remember }),
      };
      const result = await accept(input, body);
      if (!('id' in result)) return replay(request, reply, result);
      return sendText(reply, toText(result), 202);
    },
  );

  api.get(
    '/app/:app/msg',
    {
      config: { access: 'application' },
      schema: {
        tags,
        operationId: 'v1.message.list',
        summary: 'List messages, newest first',
        params: AppPath,
        querystring: MessageListQuery,
        response: { 200: ListOf(MessageOut) },
      },
    },
    async ({ params, query }, reply) => {
      const { channel, tag, with_content: withContent = true } = query;
      const listing = await messages.list(params.app, {
        ...readTimeQuery(query),
        ...(channel !== undefined && { channel }),
        ...(tag !== undefined && { tag }),
      });
      return sendText(
        reply,
        listText(listing, (message) => messageText(message, withContent)),
      );
    },
  );

  api.get(
    '/app/:app/msg/:msg',
    {
      config: { access: 'application' },
      schema: {
        tags,
        operationId: 'v1.message.get',
        summary: 'Get a message by its id or its event id',
        params: MessagePath,
        querystring: Type.Object(ContentQuery),
        response: { 200: MessageOut },
      },
    },
    async ({ params, query }, reply) => {
      const message = await messages.get(params.app, params.msg);
      return sendText(reply, messageText(message, query.with_content ?? true));
    },
  );
};

/** The answer in the commit of the message; nothing without a key. */
function rememberingText(request: FastifyRequest, toText: (message: Message) => string): Remember<Message> | undefined {
  const { idempotent } = request;
  if (idempotent === undefined) return undefined;
  const { key, fingerprint, expiresAt } = idempotent;
  return (message) => {
    idempotent.committed = true;
    return { key, fingerprint, status: 202, body: toText(message), expiresAt };
  };
}

/** The payload's own text, cut out of the body as it arrived. */
function payloadOf(request: FastifyRequest): Uint8Array {
  const { payload, data, transformationsParams } = request.body as MessageIn;
  const raw = rawPayloadOf(transformationsParams);
  if (raw !== undefined) return raw;
  if (payload === undefined && data === undefined) {
    throw invalid(['body', 'payload'], 'is required, as a JSON object', 'value_error.missing');
  }
  const text = request.rawBody && memberText(request.rawBody, payload === undefined ? 'data' : 'payload');
  return text ?? toPayloadBytes(payload ?? data ?? {}, ['body', 'payload']);
}

function rawPayloadOf(params: object | null | undefined): Uint8Array | undefined {
  const { rawPayload, headers } = (params ?? {}) as { rawPayload?: unknown; headers?: unknown };
  if (rawPayload == null) return undefined;
  const loc = ['body', 'transformationsParams'];
  if (typeof rawPayload !== 'string') throw invalid([...loc, 'rawPayload'], 'must be a string', 'type_error');
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (name.toLowerCase() !== 'content-type' || /^application\/json\b/i.test(String(value))) continue;
    throw invalid([...loc, 'headers'], 'cannot change the content type; webhooks are sent as application/json');
  }
  return toPayloadBytes(rawPayload, [...loc, 'rawPayload']);
}
