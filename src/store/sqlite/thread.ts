/** The store's thread: executes what has queued up since the last commit, all of it in one transaction. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { describeError, isPosthornError } from '../../errors.ts';
import { Executor, type Reply, type Request } from './executor.ts';
import { type Parcel, packReply, type ReplyParcel, unpack } from './parcels.ts';
import type { PlainError } from './runner.ts';

const port = parentPort;
if (port === null) throw new Error('thread.ts runs as a worker thread only.');

try {
  const executor = await Executor.open((workerData as { path: string }).path);
  port.postMessage({ opened: true });
  let isClosing = false;
  /** All that has come, beginning with `first`, up to the word to close. */
  const take = (first: Parcel[] | 'close' | undefined): Request[] => {
    const requests: Request[] = [];
    for (let message = first; message !== undefined && !isClosing; message = next()) {
      if (message === 'close') isClosing = true;
      else for (const parcel of message) requests.push(unpack(parcel));
    }
    return requests;
  };
  const next = () => receiveMessageOnPort(port)?.message as Parcel[] | 'close' | undefined;
  port.on('message', (first: Parcel[] | 'close') => {
    const requests = take(first);
    const join = () => (isClosing ? [] : take(next()));
    if (requests.length > 0) port.postMessage(answers(executor.execute(requests, join), requests));
    if (isClosing) {
      executor.close();
      port.close();
    }
  });
} catch (error) {
  port.postMessage({ error: plain(error) });
}

/** Replies come in the order of their requests. */
function answers(replies: readonly Reply[], requests: readonly Request[]): ReplyParcel[] {
  return replies.map((reply, index) => {
    if (!reply.ok) return { ...reply, error: plain(reply.error) };
    return packReply(reply, requests[index] as Request);
  });
}

function plain(error: unknown): PlainError {
  const known = isPosthornError(error) ? { code: error.code, nothingStored: error.nothingStored } : {};
  return { message: describeError(error), ...known };
}
