/** The plain reader against Node's parser: whatever the first takes, the second reads the same, to the last byte. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPlainRequest } from './plain-request.ts';

const LIMIT = 4096;

interface Read {
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let server: Server;
let port = 0;
/** All that Node's server has read, in its order. */
let read: Read[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const { method, url, headers } = request;
    const kept = { url: `${method} ${url}`, headers, body: '' };
    read.push(kept);
    request.on('data', (chunk: Buffer) => {
      kept.body += chunk.toString('latin1');
    });
    request.on('end', () => response.end('read'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** What Node's server makes of the bytes, and of another request right behind them, which shows whether it took them all. */
async function asNodeReads(bytes: Buffer): Promise<Read[]> {
  read = [];
  const socket = connect(port, '127.0.0.1');
  const next = 'GET /next HTTP/1.1\r\nhost: next\r\nconnection: close\r\n\r\n';
  await new Promise<void>((resolve) => {
    socket.on('close', () => resolve());
    socket.on('error', () => resolve());
    socket.resume();
    socket.write(Buffer.concat([bytes, Buffer.from(next)]));
  });
  return read;
}

async function expectAsNode(bytes: Buffer): Promise<boolean> {
  const plain = readPlainRequest(bytes, LIMIT);
  if (plain === undefined) return false;
  const [first, next, ...others] = await asNodeReads(bytes);
  expect(first).toEqual({
    url: `POST ${plain.url}`,
    headers: plain.headers,
    body: Buffer.from(plain.body).toString('latin1'),
  });
  expect(next?.url).toBe('GET /next');
  expect(others).toEqual([]);
  return true;
}

function request(lines: readonly string[], body: string, length: string | number = Buffer.byteLength(body, 'latin1')) {
  const head = ['POST /in/stripe HTTP/1.1', ...lines, `content-length: ${length}`].join('\r\n');
  return Buffer.from(`${head}\r\n\r\n${body}`, 'latin1');
}

const HOST = 'host: 127.0.0.1:8080';
const character = (characters: string) => fc.constantFrom(...characters);
const TOKEN = "!#$%&'*+-.^_`|~0123456789abcXYZ";
const name = fc.string({ unit: character(TOKEN), minLength: 1, maxLength: 12 });
const value = fc.string({ unit: character(`${TOKEN} ,;:="()/<>?@[]{}\\\t`), maxLength: 20 });
const line = fc.tuple(name, fc.constantFrom(': ', ':', ':  ', ' : ', ':\t'), value).map((parts) => parts.join(''));
const body = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 60,
});
/** What tells readers of HTTP apart. */
const HOSTILE = [
  'transfer-encoding: chunked',
  'Transfer-Encoding: identity',
  'content-length: 1',
  'Content-Length: 0',
  'connection: close',
  'Connection: keep-alive',
  'connection: upgrade',
  'upgrade: websocket',
  'expect: 100-continue',
  'host: other',
  'set-cookie: a=b',
  '__proto__: x',
  'constructor: x',
  'x-a: 1',
  'X-A: 2',
  ' folded',
  '\tfolded',
  'no colon',
  'x-empty:',
  'x-nul: a\0b',
  'x-high: \u00e9',
  'x-bare: a\nb: c',
  'x-return: a\rb: c',
  '',
];

describe('a plain request', () => {
  it('is taken with its URL, its headers in lower case and its very bytes', () => {
    const bytes = request(
      [HOST, 'Stripe-Signature: t=1,v1=ab', 'X-Empty-Ish: -', 'connection: Keep-Alive'],
      '{"é":1}\0',
    );
    expect(readPlainRequest(bytes, LIMIT)).toEqual({
      url: '/in/stripe',
      headers: {
        host: '127.0.0.1:8080',
        'stripe-signature': 't=1,v1=ab',
        'x-empty-ish': '-',
        connection: 'Keep-Alive',
        'content-length': '8',
      },
      body: Buffer.from('{"é":1}\0', 'latin1'),
    });
  });

  it.each<[string, Buffer]>([
    ['without a host', request([], '{}')],
    ['without its length', Buffer.from(`POST /in/a HTTP/1.1\r\n${HOST}\r\n\r\n`)],
    ['with a length that is too short', request([HOST], '{}', 1)],
    ['with a length that is too long', request([HOST], '{}', 3)],
    ['with a length that has a sign', request([HOST], '{}', '+2')],
    ['with a length that begins with a zero', request([HOST], '{}', '02')],
    ['with a length in hex', request([HOST], '{}', '0x2')],
    ['with a length beyond numbers', request([HOST], '{}', '2'.repeat(30))],
    ['with a body beyond the limit', request([HOST], 'x'.repeat(LIMIT + 1))],
    ['with a head beyond the limit', request([HOST, `x-long: ${'x'.repeat(9000)}`], '{}')],
    ['by another method', Buffer.from(request([HOST], '{}').toString().replace('POST', 'PUT'))],
    ['of HTTP/1.0', Buffer.from(request([HOST], '{}').toString().replace('1.1', '1.0'))],
    ['with a query', Buffer.from(request([HOST], '{}').toString().replace('stripe', 'stripe?a'))],
    ['with an escape in its path', Buffer.from(request([HOST], '{}').toString().replace('stripe', '%73tripe'))],
    ['with lines that end in a line feed alone', Buffer.from(request([HOST], '').toString().replaceAll('\r', ''))],
    ['with an empty line before it', Buffer.concat([Buffer.from('\r\n'), request([HOST], '{}')])],
    ['and another behind it', Buffer.concat([request([HOST], '{}'), request([HOST], '{}')])],
    ['of which only a part has come', request([HOST], '{}').subarray(0, 40)],
    ...HOSTILE.filter((each) => !/keep-alive|x-a/i.test(each)).map((each): [string, Buffer] => [
      `with ${JSON.stringify(each)} in its head`,
      request([HOST, each], '{}'),
    ]),
    ['with a header twice', request([HOST, 'x-a: 1', 'X-A: 2'], '{}')],
  ])('%s is left to Node', (_, bytes) => {
    expect(readPlainRequest(bytes, LIMIT)).toBeUndefined();
  });
});

describe('what is taken', () => {
  it('ALL-06 of any headers and bytes, Node reads the same', async () => {
    let taken = 0;
    const some = fc.array(fc.oneof({ weight: 4, arbitrary: line }, fc.constantFrom(...HOSTILE)), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(some, body, async (lines, text) => {
        if (await expectAsNode(request([HOST, ...lines], text))) taken += 1;
      }),
      { numRuns: 1500 },
    );
    expect(taken).toBeGreaterThan(150);
  });

  it('ALL-06 of a request in which bytes were changed, added and left out, Node reads the same', async () => {
    let taken = 0;
    const good = request([HOST, 'content-type: application/json', 'stripe-signature: t=1,v1=ab'], '{"id":1}');
    const odd = fc.oneof(character('\r\n\t \0:;,/.0123456789aZ-_?%#+"'), character('\u007f\u0080\u00e9\u00ff\u0001\v'));
    const change = fc.record({
      at: fc.nat(good.length - 1),
      remove: fc.nat(2),
      insert: fc.string({ unit: odd, maxLength: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        let text = good.toString('latin1');
        for (const { at, remove, insert } of changes) text = text.slice(0, at) + insert + text.slice(at + remove);
        if (await expectAsNode(Buffer.from(text, 'latin1'))) taken += 1;
      }),
      { numRuns: 3000 },
    );
    expect(taken).toBeGreaterThan(150);
  });
});
