/** An endpoint of a customer's on loopback, which answers as it is told and remembers what came. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** The status of the answers from now on. */
  answer(status: number, body?: string): void;
  /** Holds answers back until the returned function is called. */
  hold(): () => void;
  /** Resolves when so many requests have come in all. */
  until(count: number): Promise<readonly Received[]>;
}

export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const waiting = new Set<{ count: number; resolve: () => void }>();
  let status = 200;
  let text = '';
  let held = Promise.resolve();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    for (const waiter of waiting) if (received.length >= waiter.count) waiter.resolve();
    const told = { status, text };
    await held;
    response.writeHead(told.status).end(told.text);
  }
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answer(newStatus, body = '') {
      status = newStatus;
      text = body;
    },
    hold() {
      let release = () => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
    async until(count) {
      if (received.length < count) await new Promise<void>((resolve) => void waiting.add({ count, resolve }));
      return received;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
