/** Test servers on loopback that do exactly what they are told, byte by byte. Only tests import this. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { clearInterval, setInterval } from 'node:timers';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

export interface RawServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** How many connections it has seen. */
  readonly connections: () => number;
  /** What it has read, over all connections. */
  readonly received: () => string;
}

export type OnSocket = (socket: Socket) => void;

export async function rawServer(onSocket: OnSocket, tls?: TlsOptions): Promise<RawServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  let received = '';
  const accept = (socket: Socket): void => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (data) => {
      received += data.toString('latin1');
    });
    onSocket(socket);
  };
  // allowHalfOpen: a scenario decides itself when its side closes.
  const server: Server = tls ? createTlsServer(tls, accept) : createServer({ allowHalfOpen: true }, accept);
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    connections: () => connections,
    received: () => received,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Calls `answer` for each request, once its head and as much body as Content-Length says have arrived. */
export function onRequest(answer: (socket: Socket, request: string) => void): OnSocket {
  return (socket) => {
    let pending = '';
    socket.on('end', () => socket.end());
    socket.on('data', (data) => {
      pending += data.toString('latin1');
      for (;;) {
        const headEnd = pending.indexOf('\r\n\r\n');
        if (headEnd === -1) return;
        const length = Number(/content-length: (\d+)/i.exec(pending.slice(0, headEnd))?.[1] ?? 0);
        const end = headEnd + 4 + length;
        if (pending.length < end) return;
        const request = pending.slice(0, end);
        pending = pending.slice(end);
        answer(socket, request);
      }
    });
  };
}

/** Answers every request with these bytes and keeps the connection open. */
export function replies(bytes: string | Buffer): OnSocket {
  return onRequest((socket) => socket.write(bytes));
}

/** Answers the first request with these bytes and closes. */
export function repliesAndCloses(bytes: string | Buffer): OnSocket {
  return onRequest((socket) => socket.end(bytes));
}

export function ok(body = 'ok', headers = ''): string {
  return `HTTP/1.1 200 OK\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Sends `head` and then `bytes` again every `everyMs`, for as long as the connection lives. */
export function drips(head: string, bytes: string, everyMs = 10): OnSocket {
  return onRequest((socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(bytes), everyMs);
    socket.on('close', () => clearInterval(timer));
  });
}

/** Sends `head` and then `bytes` as fast as the other side takes them, without an end. */
export function floods(head: string, bytes: string): OnSocket {
  return onRequest((socket) => {
    const flow = (): void => {
      while (!socket.destroyed && socket.write(bytes));
    };
    socket.on('drain', flow);
    socket.write(head);
    flow();
  });
}
