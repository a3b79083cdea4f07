/**
 * `idempotency-key` on a POST: whoever sends the same request again gets the first one's answer, for 12 hours.
 *
 * A route that creates something writes the answer in the same commit (`remembering`), so that no crash comes between
 * the two. For the others (rotate, pause, resend, dead letters) the key is taken in the store before the work and gets its
 * answer after it: another node refuses it meanwhile, and a crash between the two leaves it free again after a minute.
 * Requests with the same key that come to this node while the first is under way wait for it. Failures are not kept.
 * An answer with a secret is not stored: whoever repeats that request learns that it was done, not what it said.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PosthornError } from '../errors.ts';
import type { Remember } from '../resources/index.ts';
import type { Remembered } from '../store/index.ts';
import type { Served } from './api.ts';

const KEPT_MS = 12 * 60 * 60 * 1000;
/** How long a request whose end nobody recorded keeps its key. */
const UNDER_WAY_MS = 60_000;
const UNDER_WAY_STATUS = 0;

export interface IdempotentRequest {
  readonly key: string;
  readonly fingerprint: string;
  readonly expiresAt: number;
  /** Whether the answer is kept already: it rode in a commit, or is an earlier one. */
  committed: boolean;
  /** Whether the key was taken in the store before the work. */
  taken: boolean;
  /** Ends the wait of those who sent the same. */
  readonly settle: (answer: Remembered | undefined) => void;
}

interface Running {
  readonly fingerprint: string;
  readonly answer: Promise<Remembered | undefined>;
}

/** The answer to keep under the request's key, in the commit of what it answers; nothing without a key. */
export function remembering<T>(
  request: FastifyRequest,
  status: number,
  toBody: (made: T) => unknown,
): Remember<T> | undefined {
  const { idempotent } = request;
  if (idempotent === undefined) return undefined;
  return (made) => {
    idempotent.committed = true;
    const { key, fingerprint, expiresAt } = idempotent;
    return { key, fingerprint, status, body: JSON.stringify(toBody(made)), expiresAt };
  };
}

/** Gives a remembered answer again, if this is the request that it answered. */
export function replay(request: FastifyRequest, reply: FastifyReply, remembered: Remembered): FastifyReply {
  checkSame(remembered.fingerprint, request.idempotent?.fingerprint);
  if (remembered.status === UNDER_WAY_STATUS) throw underWay();
  // It is kept already, until its own time is over.
  if (request.idempotent !== undefined) request.idempotent.committed = true;
  if (remembered.body === '') return reply.code(remembered.status).send();
  return reply.code(remembered.status).type('application/json; charset=utf-8').send(remembered.body);
}

export function keepIdempotency(server: FastifyInstance, { store, clock }: Served): void {
  const running = new Map<string, Running>();

  /** Whether the request was answered: it was done before, or it waited for the one that did it. */
  async function answered(request: FastifyRequest, reply: FastifyReply, header: string): Promise<boolean> {
    const key = digest(`${request.token.id}:${header}`);
    const fingerprint = digest(`${request.method} ${request.url}\n`, request.rawBody);
    const mine = { key, fingerprint, committed: true, taken: false, settle: () => {} };
    for (let first = running.get(key); first !== undefined; first = running.get(key)) {
      checkSame(first.fingerprint, fingerprint);
      const answer = await first.answer;
      if (answer !== undefined) {
        request.idempotent = { ...mine, expiresAt: answer.expiresAt };
        void replay(request, reply, answer);
        return true;
      }
    }

    let settle: IdempotentRequest['settle'] = () => {};
    const answer = new Promise<Remembered | undefined>((resolve) => {
      settle = resolve;
    });
    running.set(key, { fingerprint, answer });
    request.idempotent = {
      ...mine,
      expiresAt: clock.now() + KEPT_MS,
      committed: false,
      settle: (value) => {
        running.delete(key);
        settle(value);
      },
    };

    const kept = await recall(request, request.idempotent);
    if (kept === undefined) return false;
    if (kept.status !== UNDER_WAY_STATUS && request.routeOptions.config.tellsSecret) {
      checkSame(kept.fingerprint, fingerprint);
      throw toldAlready();
    }
    void replay(request, reply, kept);
    return true;
  }

  /** The answer that the key has; if it has none and no commit will see to it, the key is taken. */
  async function recall(request: FastifyRequest, mine: IdempotentRequest): Promise<Remembered | undefined> {
    const { recallsInCommit, remembersInCommit, readsOnly } = request.routeOptions.config;
    const { key, fingerprint } = mine;
    const now = clock.now();
    if (recallsInCommit) return undefined;
    if (remembersInCommit || readsOnly) return store.recall({ key, now });
    const answer = { key, fingerprint, status: UNDER_WAY_STATUS, body: '', expiresAt: now + UNDER_WAY_MS };
    const kept = await store.keepAnswer({ answer, now });
    mine.taken = kept === undefined;
    return kept;
  }

  server.addHook('preHandler', (request, reply, done) => {
    const header = request.headers['idempotency-key'];
    if (request.method !== 'POST' || typeof header !== 'string' || header === '') return done();
    answered(request, reply, header).then((was) => {
      if (!was) done();
    }, done);
  });

  // Not onResponse: it also comes when the client hangs up, while the handler is still at work.
  server.addHook('onSend', (request, reply, payload, done) => {
    const { idempotent } = request;
    if (idempotent === undefined) return done(null, payload);
    const { key, fingerprint, expiresAt } = idempotent;
    const good = reply.statusCode >= 200 && reply.statusCode < 300;
    const body = typeof payload === 'string' ? payload : '';
    const answer = good ? { key, fingerprint, status: reply.statusCode, body, expiresAt } : undefined;
    keep(request, idempotent, answer)
      // The work is done and said to be; only whoever repeats it is not recognized.
      .catch((error: unknown) => request.log.error({ err: error }, 'the answer to an idempotent request was not kept'))
      .finally(() => {
        idempotent.settle(answer);
        done(null, payload);
      });
  });

  async function keep(request: FastifyRequest, mine: IdempotentRequest, answer: Remembered | undefined) {
    if (mine.committed && answer !== undefined) return;
    const now = clock.now();
    const { tellsSecret, readsOnly } = request.routeOptions.config;
    if (answer !== undefined && !readsOnly) {
      await store.keepAnswer({ answer: tellsSecret ? { ...answer, body: '' } : answer, now, replaces: mine.taken });
    } else if (mine.taken) {
      const { key, fingerprint } = mine;
      const free = { key, fingerprint, status: UNDER_WAY_STATUS, body: '', expiresAt: now };
      await store.keepAnswer({ answer: free, now, replaces: true });
    }
  }
}

function underWay(): PosthornError {
  return new PosthornError(
    'conflict',
    'A request with this idempotency key is under way on another node, or was cut off: send it again in a minute',
  );
}

function toldAlready(): PosthornError {
  return new PosthornError(
    'conflict',
    'This request was done before, under the same idempotency key. Its answer held a secret, which is told once and not kept with the key: read it where it is shown (the URL of a source), or delete what it made and send the request with a new key',
  );
}

function checkSame(first: string, now: string | undefined): void {
  if (first === now) return;
  throw new PosthornError(
    'idempotency_key_reused',
    'This idempotency key was used for another request (another path or another body); send a new key with a new request',
  );
}

function digest(text: string, body?: Buffer): string {
  const hash = createHash('sha256').update(text);
  if (body !== undefined) hash.update(body);
  return hash.digest('base64url');
}
