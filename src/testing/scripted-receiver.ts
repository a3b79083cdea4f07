/** A real HTTP endpoint on loopback that answers as told and keeps its own log of what reached it. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Arrival {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly path: string;
}

/** A status, or what to do with the response: nothing at all keeps the sender waiting. */
export type Answer = number | ((response: ServerResponse, arrival: Arrival) => void);

export interface ScriptedReceiver {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  /** The most requests that were open at the same time. */
  readonly mostAtOnce: number;
  /** What the coming requests are answered, one by one; the last one stays. */
  answer(...answers: Answer[]): void;
  /** Resolves when `count` requests have arrived. */
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function startReceiver(...first: Answer[]): Promise<ScriptedReceiver> {
  const arrivals: Arrival[] = [];
  let answers = first.length > 0 ? first : [200 as Answer];
  let open = 0;
  let mostAtOnce = 0;
  let waiting: { count: number; resolve: () => void }[] = [];

  const server = createServer((request, response) => {
    open += 1;
    mostAtOnce = Math.max(mostAtOnce, open);
    response.once('close', () => {
      open -= 1;
    });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const arrival = { headers: request.headers, body: Buffer.concat(chunks), path: request.url ?? '' };
      arrivals.push(arrival);
      const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? 200;
      if (typeof answer === 'number') response.writeHead(answer).end();
      else answer(response, arrival);
      for (const each of waiting.filter(({ count }) => arrivals.length >= count)) each.resolve();
      waiting = waiting.filter(({ count }) => arrivals.length < count);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}/`,
    arrivals,
    get mostAtOnce() {
      return mostAtOnce;
    },
    answer(...next) {
      answers = next;
    },
    arrived(count) {
      if (arrivals.length >= count) return Promise.resolve();
      return new Promise((resolve) => waiting.push({ count, resolve }));
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
