/**
 * Where the executor runs. In a thread of its own the event loop never waits for the disk; in line it runs on the
 * caller's thread, which keeps a simulation in step. Both gather what is asked for in one tick into one batch.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { closed, type ErrorCode, PosthornError } from '../../errors.ts';
import { Executor, type Reply, type Request } from './executor.ts';
import type { OperationName } from './operations.ts';
import { pack, type ReplyParcel, unpackReply } from './parcels.ts';

export interface Runner {
  run(name: OperationName, input: unknown): Promise<unknown>;
  close(): Promise<void>;
}

/** An error as it crosses from the thread. */
export interface PlainError {
  readonly code?: ErrorCode;
  readonly message: string;
  readonly nothingStored?: boolean;
}

interface Waiting {
  resolve(output: unknown): void;
  reject(error: unknown): void;
}

/** Requests on their way, by id, flushed together at the end of the tick. */
class Outbox {
  readonly #send: (requests: Request[]) => void;
  readonly #waiting = new Map<number, Waiting>();
  #requests: Request[] = [];
  #lastId = 0;
  #closed: PosthornError | undefined;

  constructor(send: (requests: Request[]) => void) {
    this.#send = send;
  }

  add(name: OperationName, input: unknown): Promise<unknown> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#waiting.set(id, { resolve, reject });
      if (this.#requests.push({ id, name, input }) === 1) queueMicrotask(() => this.#flush());
    });
  }

  settle(replies: readonly Reply[]): void {
    for (const reply of replies) {
      const waiting = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      if (reply.ok) waiting?.resolve(reply.output);
      else waiting?.reject(reply.error);
    }
  }

  /** Sends what was asked for and takes nothing more: what is on its way still gets its answer. */
  close(reason: PosthornError): void {
    this.#flush();
    this.#closed ??= reason;
  }

  /** Nobody answers any more. */
  fail(reason: PosthornError): void {
    this.#closed ??= reason;
    for (const waiting of this.#waiting.values()) waiting.reject(this.#closed);
    this.#waiting.clear();
  }

  #flush(): void {
    const requests = this.#requests;
    this.#requests = [];
    if (this.#closed === undefined && requests.length > 0) this.#send(requests);
  }
}

const THREAD_FAILED = 'The store thread failed: restart Posthorn.';

export async function runInLine(path: string): Promise<Runner> {
  const executor = await Executor.open(path);
  const outbox = new Outbox((requests) => outbox.settle(executor.execute(requests)));
  return {
    run: (name, input) => outbox.add(name, input),
    async close() {
      outbox.close(closed());
      outbox.fail(closed());
      executor.close();
    },
  };
}

export async function runInThread(path: string): Promise<Runner> {
  const worker = new Worker(new URL('./thread.js', import.meta.url), { workerData: { path }, execArgv: [] });
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  await opened(worker);
  const outbox = new Outbox((requests) => {
    const { parcels, buffers, refused } = pack(requests);
    worker.postMessage(parcels, buffers);
    outbox.settle(refused);
  });
  worker.on('message', (replies: readonly ReplyParcel[]) => outbox.settle(replies.map(revive)));
  worker.on('error', (cause) => outbox.fail(new PosthornError('store_unavailable', THREAD_FAILED, { cause })));
  worker.on('exit', () => outbox.fail(new PosthornError('store_unavailable', THREAD_FAILED)));
  return {
    run: (name, input) => outbox.add(name, input),
    async close() {
      outbox.close(closed());
      // The thread closes the database and ends by itself: ending it from outside aborts the process on Node 20's driver.
      worker.postMessage('close');
      await exited;
    },
  };
}

async function opened(worker: Worker): Promise<void> {
  const [answer] = (await once(worker, 'message')) as [{ opened: true } | { error: PlainError }];
  if ('error' in answer) throw toError(answer.error);
}

function revive(reply: ReplyParcel): Reply {
  return reply.ok ? unpackReply(reply) : { ...reply, error: toError(reply.error as PlainError) };
}

function toError(plain: PlainError): Error {
  const { code, message, nothingStored = false } = plain;
  return code === undefined ? new Error(message) : new PosthornError(code, message, { nothingStored });
}
