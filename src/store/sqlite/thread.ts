/** The store's thread: executes what has queued up since the last commit, all of it in one transaction. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { describeError, isPosthornError } from '../../errors.ts';
import { Executor, type Reply, type Request } from './executor.ts';
import type { PlainError } from './runner.ts';

const port = parentPort;
if (port === null) throw new Error('thread.ts runs as a worker thread only.');

try {
  const executor = await Executor.open((workerData as { path: string }).path);
  port.postMessage({ opened: true });
  port.on('message', (first: Request[] | 'close') => {
    const requests: Request[] = [];
    let message: Request[] | 'close' | undefined = first;
    while (message !== undefined && message !== 'close') {
      for (const request of message) requests.push(request);
      message = receiveMessageOnPort(port)?.message as Request[] | 'close' | undefined;
    }
    if (requests.length > 0) port.postMessage(executor.execute(requests).map(flatten));
    if (message === 'close') {
      executor.close();
      port.close();
    }
  });
} catch (error) {
  port.postMessage({ error: plain(error) });
}

function flatten(reply: Reply): Reply {
  return reply.ok ? reply : { ...reply, error: plain(reply.error) };
}

function plain(error: unknown): PlainError {
  const known = isPosthornError(error) ? { code: error.code, nothingStored: error.nothingStored } : {};
  return { message: describeError(error), ...known };
}
