/** A TCP proxy on loopback that can cut a connection at the worst moment: the client's bytes got through, the answer did not. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy {
  readonly port: number;
  /** Cuts the next connection on which the client sends this text, once the server has had time to act on it. */
  cutAfter(text: string): void;
  /** From now on the server ends each new connection right behind its greeting, in one piece, as one that shuts down may. */
  endLogins(yes: boolean): void;
  /** How many connections were cut. */
  readonly cuts: number;
  close(): Promise<void>;
}

/** ReadyForQuery, outside of a transaction. */
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');
const SHUTTING_DOWN = errorMessage({
  S: 'FATAL',
  V: 'FATAL',
  C: '57P01',
  M: 'terminating connection due to administrator command',
});

/** ErrorResponse of PostgreSQL's protocol. */
function errorMessage(fields: Readonly<Record<string, string>>): Buffer {
  const body = Buffer.from(
    `${Object.entries(fields)
      .map(([code, text]) => `${code}${text}\0`)
      .join('')}\0`,
  );
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

export async function startCuttingProxy(target: { host: string; port: number }): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let watched: string | undefined;
  let cuts = 0;
  let endsLogins = false;
  const server = createServer((client) => {
    const upstream = connect(target.port, target.host);
    let silenced = false;
    let isReady = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (watched !== undefined && chunk.includes(watched)) {
        watched = undefined;
        silenced = true;
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      const isGreeting = !isReady && chunk.includes(READY);
      isReady ||= isGreeting;
      if (isGreeting && endsLogins) {
        cuts += 1;
        client.end(Buffer.concat([chunk, SHUTTING_DOWN]));
        upstream.destroy();
      } else if (!silenced) client.write(chunk);
      // The answer to COMMIT is here, so it is done: now nobody hears of it.
      else if (chunk.includes('COMMIT\0')) {
        cuts += 1;
        client.destroy();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    port,
    cutAfter(text) {
      watched = text;
    },
    endLogins(yes) {
      endsLogins = yes;
    },
    get cuts() {
      return cuts;
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
