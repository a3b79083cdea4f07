/** Receive: raw bytes within limits → verify → id and type → one commit → 2xx. Nothing that is refused is stored. */
import type { Clock } from '../clock.ts';
import { callListener, type Engine, type Logger, type Publication, type Published } from '../engine/index.ts';
import { describeError, isPosthornError } from '../errors.ts';
import type { SecretBox } from '../signing/index.ts';
import type { Remembered, Store } from '../store/index.ts';
import { accepted, failed, type RefusalCode, refusal } from './answers.ts';
import { eventKey, sha256 } from './event-key.ts';
import { keptHeaders } from './kept-headers.ts';
import { type OpenSource, OpenSources } from './open-sources.ts';
import type { Answer, InboundEvent, InboundRequest, Verdict, VerifyPorts } from './providers/index.ts';
import type { ReceivedNotice } from './received-notice.ts';

export interface ReceiverOptions {
  readonly store: Store;
  readonly engine: Pick<Engine, 'publish'>;
  readonly clock: Clock;
  readonly secretBox: SecretBox;
  readonly logger: Logger;
  /** What some providers need besides the request: PayPal's certificates, the confirmation of AWS SNS. */
  readonly ports: VerifyPorts;
  readonly maxBodyBytes: number;
  readonly onReceived?: (notice: ReceivedNotice) => unknown;
}

export interface Receiver {
  readonly maxBodyBytes: number;
  /**
   * Never rejects: whatever goes wrong is an answer, and a line in the log. `urlToken` is what follows the source in a URL
   * of ours, empty for nothing; without it the path is the application's own, and no token is asked for.
   */
  receive(source: string, request: InboundRequest, urlToken?: string): Promise<Answer>;
  /** For what cannot even be verified: the answer, and a line in the log. */
  refuse(code: RefusalCode, source: string, reason: string, detail?: string): Answer;
  /** A source changed: without an id, any may have. */
  changed(sourceId?: string): void;
}

/** What a line in the log says of an event. */
interface About {
  readonly source: string;
  readonly provider: string;
  readonly eventId: string;
  readonly eventType: string;
}

export function createReceiver(options: ReceiverOptions): Receiver {
  const { engine, clock, logger, ports, maxBodyBytes, onReceived } = options;
  const sources = new OpenSources(options);
  /** Types of a source that were stored although nothing is for them: each is told once. */
  const unclaimed = new Set<string>();

  function refuse(code: RefusalCode, source: string, reason: string, event?: About): Answer {
    const about = { source, reason, ...(event && { eventId: event.eventId, eventType: event.eventType }) };
    logger.warn(about, `webhook refused: ${code}`);
    return refused(refusalOf(code), source, reason);
  }

  /** A sender that sends too much learns how much it may. */
  function refusalOf(code: RefusalCode, detail?: string): Answer {
    const tooLarge = `The body is larger than the ${maxBodyBytes} bytes that this server takes`;
    return refusal(code, code === 'payload_too_large' ? tooLarge : detail);
  }

  function refused(answer: Answer, source: string, reason: string): Answer {
    tell({ source, status: answer.status, became: 'refused', reason });
    return answer;
  }

  /** What a watcher throws must not become the sender's answer. */
  function tell(notice: ReceivedNotice): void {
    if (onReceived === undefined) return;
    callListener(onReceived, notice, (error) => {
      logger.error({ source: notice.source, error: describeError(error) }, 'the onReceived hook failed');
    });
  }

  /** One function to the commit and from it: every step that waits by itself costs each webhook a promise and a turn. */
  async function receive(name: string, given: InboundRequest, urlToken?: string): Promise<Answer> {
    try {
      const { method } = given;
      // At every URL alike: it tells nobody where a source is.
      if (method !== 'POST' && method !== 'GET' && method !== 'HEAD') {
        return refuse('method_not_allowed', name.slice(0, 80), method);
      }
      const request = withOwnBytes(given);
      const open = sources.peek(name) ?? (await sources.find(name));
      if (open === undefined) return refuse('not_found', name.slice(0, 80), 'there is no such source');
      const title = open.source.uid ?? open.source.id;
      const unread = answerUnread(open, title, request, urlToken);
      if (unread !== undefined) return unread;
      const asked = open.prepared.verify(request, ports);
      const answer = answerUnstored(open, title, request, 'kind' in asked ? asked : await asked);
      if (answer !== undefined) return answer;
      const event = eventOf(open, request);
      if (typeof event === 'string') return refuse('invalid_event', title, event);
      const eventId = eventKey(open.source.dedupe, request, event);
      const about = { source: title, provider: open.source.provider, eventId, eventType: event.type };
      logger.info(about, 'webhook received');
      const once = event.onceToken === undefined ? undefined : onceOnly(open, event.onceToken, request.body);
      return answerStored(open, title, about, once, await engine.publish(publicationOf(open, request, about, once)));
    } catch (error) {
      return answerFailed(name.slice(0, 80), error);
    }
  }

  function answerFailed(source: string, error: unknown): Answer {
    // Deleted between verifying and storing.
    if (isPosthornError(error, 'not_found')) return refuse('not_found', source, error.message);
    logger.error({ source, error: describeError(error) }, 'a webhook could not be taken');
    return refused(failed(error), source, describeError(error));
  }

  /** What need not be verified to be answered. */
  function answerUnread(
    { checkUrl }: OpenSource,
    title: string,
    { method, body, headers }: InboundRequest,
    urlToken: string | undefined,
  ): Answer | undefined {
    const wrongUrl = urlToken === undefined ? undefined : checkUrl(urlToken, clock.now());
    if (wrongUrl !== undefined) return refuse('not_found', title, wrongUrl);
    if (method === 'HEAD') return answered(title, FOUND);
    if (body.byteLength > maxBodyBytes) {
      return refuse('payload_too_large', title, `${body.byteLength} bytes, and the limit is ${maxBodyBytes}`);
    }
    const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
    if (encoding !== '' && encoding !== 'identity') return refuse('unsupported_media_type', title, encoding);
    return undefined;
  }

  /** To a provider that looks whether this URL is one of ours: nothing is stored. */
  function answered(title: string, answer: Answer): Answer {
    logger.info({ source: title }, 'answered a sender that asked whether this URL is there');
    tell({ source: title, status: answer.status, became: 'answered' });
    return answer;
  }

  /** The answer to what is not an event that was verified; undefined for one that is. */
  function answerUnstored(
    { provider }: OpenSource,
    title: string,
    request: InboundRequest,
    verdict: Verdict,
  ): Answer | undefined {
    if (verdict.kind === 'answer') {
      return answered(title, { status: verdict.status, headers: verdict.headers, body: verdict.body });
    }
    if (verdict.kind === 'unavailable') return refuse('unavailable', title, verdict.reason);
    if (request.method === 'GET') {
      const why = verdict.kind === 'refused' ? verdict.reason : 'it asks nothing';
      return refuse('method_not_allowed', title, `a GET, and no challenge of this provider's: ${why}`);
    }
    if (verdict.kind !== 'refused') return undefined;
    const answer = refuse('verification_failed', title, verdict.reason);
    return { ...answer, headers: { ...answer.headers, ...provider.refusedHeaders } };
  }

  function publicationOf(
    { source, secrets }: OpenSource,
    request: InboundRequest,
    { eventId, eventType }: About,
    once: Remembered | undefined,
  ): Publication {
    const contentType = request.headers['content-type'];
    // Assigned one by one: V8 writes what follows a spread the slow way, which showed in profiles.
    const publication: { -readonly [K in keyof Publication]: Publication[K] } = {
      application: source.id,
      eventType,
      eventId,
      payload: request.body,
      headers: keptHeaders(request.headers, secrets),
      onlyIfWanted: source.onUnknownEvent !== 'keep',
    };
    if (contentType !== undefined) publication.contentType = contentType;
    if (once !== undefined) publication.remember = () => once;
    return publication;
  }

  function answerStored(
    { source, provider }: OpenSource,
    title: string,
    about: About,
    once: Remembered | undefined,
    published: Published,
  ): Answer {
    const { eventId, eventType } = about;
    if (
      published.kind === 'duplicate' &&
      published.by === 'key' &&
      published.remembered.fingerprint !== once?.fingerprint
    ) {
      return refuse('verification_failed', title, 'what was signed has come before with another body', about);
    }
    if (published.kind === 'unwanted' && source.onUnknownEvent === 'reject') {
      return refuse('unknown_event_type', title, 'no handler or endpoint is for it', about);
    }
    log(about, published);
    const answer = provider.accepted ?? answerTo(published);
    if (onReceived !== undefined) {
      const destinations = published.kind === 'accepted' ? published.destinations : 0;
      tell({ source: title, status: answer.status, became: BECAME[published.kind], eventId, eventType, destinations });
    }
    return answer;
  }

  /** What was signed and does not cover the event, bound to the body that it came with first. */
  function onceOnly({ source, provider, prepared }: OpenSource, token: string, body: Uint8Array): Remembered {
    const key = `once ${source.id} ${sha256(Buffer.from(token))}`;
    // A timestamp may lie as far ahead of this clock as behind it.
    const expiresAt = clock.now() + Math.max(provider.dedupeForMs, 2 * prepared.toleranceMs);
    return { key, fingerprint: sha256(body), status: 200, body: '', expiresAt };
  }

  function log(about: About, published: Published): void {
    switch (published.kind) {
      case 'accepted':
        logger.debug(about, 'webhook stored');
        if (published.destinations === 0) warnOfUnclaimed(about);
        return;
      case 'unwanted':
        logger.info(about, 'webhook ignored: no handler or endpoint is for its type');
        return;
      case 'duplicate':
        if (published.by === 'key') return;
        if (published.samePayload)
          logger.info({ ...about, messageId: published.messageId }, 'webhook skipped: it was received before');
        else {
          const { messageId } = published;
          logger.warn(
            { ...about, messageId },
            'webhook received again with another body, or after its message was removed; what was kept stays as it is',
          );
        }
    }
  }

  function warnOfUnclaimed({ source, eventType }: About): void {
    const type = `${source} ${eventType}`;
    if (unclaimed.has(type) || unclaimed.size >= MOST_UNCLAIMED) return;
    unclaimed.add(type);
    logger.warn(
      { source, eventType },
      "webhook stored, but no handler or endpoint is for its type: it waits for nobody. This is said once. Add one and send the event to it again, or let the source's onUnknownEvent say ignore or reject",
    );
  }

  return {
    maxBodyBytes,
    receive,
    refuse(code, source, reason, detail) {
      logger.warn({ source: source.slice(0, 80), reason }, `webhook refused: ${code}`);
      return refused(refusalOf(code, detail), source.slice(0, 80), reason);
    },
    changed: (sourceId) => sources.changed(sourceId),
  };
}

/** The event, or why there is none. */
function eventOf({ prepared }: OpenSource, request: InboundRequest): InboundEvent | string {
  try {
    return prepared.eventOf(request);
  } catch (error) {
    return describeError(error);
  }
}

/** Types are strangers' words where a source verifies nothing. */
const MOST_UNCLAIMED = 1000;

const BECAME = { accepted: 'stored', unwanted: 'ignored', duplicate: 'skipped' } as const;

/** Some providers check a URL with a HEAD before they take it (Intercom): this one is there. */
const FOUND: Answer = { status: 200, headers: {}, body: '' };

function answerTo(published: Published): Answer {
  switch (published.kind) {
    case 'accepted':
      return accepted(`{"received":true,"id":"${published.message.id}"}`);
    case 'unwanted':
      return accepted('{"received":true,"ignored":true}');
    case 'duplicate':
      return accepted('{"received":true,"duplicate":true}');
  }
}

/**
 * Never a small part of a larger buffer: the body waits in memory, and would keep all of it there. What is as large as all that
 * came with it stays where it lies: a copy of 1 KB takes 2 µs and what its collection takes (November 2026).
 */
function withOwnBytes(request: InboundRequest): InboundRequest {
  const { body } = request;
  return body.buffer.byteLength <= 2 * body.byteLength ? request : { ...request, body: new Uint8Array(body) };
}
