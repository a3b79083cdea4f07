// HTTP/1.1 with as little as it takes: on two cores a client library would take a quarter of the machine from the server
// that is measured. Requests are bytes that were made before; of an answer only its status and its length are read.
import { once } from 'node:events';
import { connect } from 'node:net';

/** The bytes of a POST. */
export function toBytes({ host, path, headers, body }) {
  const lines = Object.entries({ host, ...headers, 'content-length': Buffer.byteLength(body) });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${head}\r\n${body}`);
}

/** One connection that is kept, with one request at a time. */
export async function openConnection(url) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let received = '';
  let waiting;
  socket.on('data', (chunk) => {
    received += chunk.latin1Slice();
    const answer = readAnswer(received);
    if (answer === undefined) return;
    received = '';
    settle('resolve', answer);
  });
  socket.on('error', (error) => settle('reject', error));
  socket.on('close', () => settle('reject', new Error('the server closed a connection')));
  await once(socket, 'connect');

  function settle(how, value) {
    const settled = waiting;
    waiting = undefined;
    settled?.[how](value);
  }

  return {
    /** Resolves with the whole answer: its status and what follows it. */
    post(bytes) {
      return new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(new Error('the server closed a connection'));
        waiting = { resolve, reject };
        socket.write(bytes);
      });
    },
    close() {
      waiting = undefined;
      socket.destroy();
    },
  };
}

/** Undefined as long as it is not whole. */
function readAnswer(text) {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
  if (length === undefined) throw new Error(`an answer without a content-length: ${text.slice(0, headEnd)}`);
  const missing = headEnd + 4 + Number(length) - text.length;
  if (missing > 0) return undefined;
  if (missing < 0) throw new Error('more came than was asked for');
  return { status: Number(text.slice(9, 12)), body: text.slice(headEnd + 4) };
}
