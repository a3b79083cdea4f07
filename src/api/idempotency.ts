/**
 * `idempotency-key` on a POST: whoever sends the same request again gets the first one's answer, for 12 hours.
 *
 * A route that creates something writes the answer in the same commit (`remembering`), so that no crash comes between
 * the two. For the others (rotate, pause, tokens, whose plain text must not be stored) the answer is kept in memory.
 * Requests with the same key that come while the first is under way wait for it. Failures are not kept.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PosthornError } from '../errors.ts';
import type { Remember } from '../resources/index.ts';
import type { Remembered } from '../store/index.ts';
import type { Served } from './api.ts';

const KEPT_MS = 12 * 60 * 60 * 1000;
const MOST_IN_MEMORY = 10_000;

export interface IdempotentRequest {
  readonly key: string;
  readonly fingerprint: string;
  readonly expiresAt: number;
  /** Whether the answer rode in a commit. */
  committed: boolean;
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
  // It is kept already, until its own time is over.
  if (request.idempotent !== undefined) request.idempotent.committed = true;
  if (remembered.body === '') return reply.code(remembered.status).send();
  return reply.code(remembered.status).type('application/json; charset=utf-8').send(remembered.body);
}

export function keepIdempotency(server: FastifyInstance, { store, clock }: Served): void {
  const running = new Map<string, Running>();
  const inMemory = new Map<string, Remembered>();

  /** Whether the request was answered: it was done before, or it waited for the one that did it. */
  async function answered(request: FastifyRequest, reply: FastifyReply, header: string): Promise<boolean> {
    const key = digest(`${request.token.id}:${header}`);
    const fingerprint = digest(`${request.method} ${request.url}\n`, request.rawBody);
    for (let first = running.get(key); first !== undefined; first = running.get(key)) {
      checkSame(first.fingerprint, fingerprint);
      const answer = await first.answer;
      if (answer !== undefined) {
        request.idempotent = { key, fingerprint, expiresAt: answer.expiresAt, committed: true, settle: () => {} };
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
      key,
      fingerprint,
      expiresAt: clock.now() + KEPT_MS,
      committed: false,
      settle: (value) => {
        running.delete(key);
        settle(value);
      },
    };

    const kept = await recall(request, key);
    if (kept === undefined) return false;
    void replay(request, reply, kept);
    return true;
  }

  async function recall({ routeOptions }: FastifyRequest, key: string): Promise<Remembered | undefined> {
    const kept = inMemory.get(key);
    if (kept !== undefined && kept.expiresAt > clock.now()) return kept;
    inMemory.delete(key);
    return routeOptions.config.recallsInCommit ? undefined : store.recall({ key, now: clock.now() });
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
    if (idempotent !== undefined) {
      const { key, fingerprint, expiresAt, committed } = idempotent;
      const good = reply.statusCode >= 200 && reply.statusCode < 300;
      const body = typeof payload === 'string' ? payload : '';
      const answer = good ? { key, fingerprint, status: reply.statusCode, body, expiresAt } : undefined;
      if (answer !== undefined && !committed) keep(inMemory, answer);
      idempotent.settle(answer);
    }
    done(null, payload);
  });
}

function keep(inMemory: Map<string, Remembered>, answer: Remembered): void {
  if (inMemory.size >= MOST_IN_MEMORY) {
    for (const oldest of inMemory.keys()) {
      inMemory.delete(oldest);
      break;
    }
  }
  inMemory.set(answer.key, answer);
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
