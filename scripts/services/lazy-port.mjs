// @ts-check
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

const HOST = '127.0.0.1';

/**
 * A port that starts its server at the first connection and leads to it. So a run of the tests has the addresses from the
 * start, and pays for a server only when a test speaks to it.
 *
 * @param {() => Promise<{ port: number, stop: () => Promise<void> }>} start
 * @param {(why: string) => Buffer} refusal How this protocol says that there is no server: the test then fails with the reason.
 */
export async function openLazyPort(start, refusal) {
  /** @type {ReturnType<typeof start> | undefined} */
  let starting;
  /** @type {Set<import('node:net').Socket>} */
  const open = new Set();

  const door = createServer({ noDelay: true, pauseOnConnect: true }, async (client) => {
    track(client);
    try {
      starting ??= start();
      const { port } = await starting;
      join(client, track(connect({ port, host: HOST, noDelay: true })));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // Not before it has asked: a client takes an answer to nothing for a broken server.
      client.once('data', () => client.end(refusal(why)));
      client.resume();
    }
  });
  door.listen(0, HOST);
  await once(door, 'listening');

  /** @param {import('node:net').Socket} socket */
  function track(socket) {
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => open.delete(socket));
    return socket;
  }

  return {
    port: /** @type {import('node:net').AddressInfo} */ (door.address()).port,
    async close() {
      door.close();
      for (const socket of open) socket.destroy();
      const server = await starting?.catch(() => undefined);
      await server?.stop();
    },
  };
}

/** When one side goes, the other goes too. @param {import('node:net').Socket} client @param {import('node:net').Socket} server */
function join(client, server) {
  client.pipe(server).pipe(client);
  client.once('close', () => server.destroy());
  server.once('close', () => client.destroy());
}
