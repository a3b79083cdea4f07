import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import type { ErrorKind } from '../model/index.ts';
import { loopbackSender, post } from './hostile/loopback-sender.ts';
import {
  drips,
  floods,
  type OnSocket,
  ok,
  onRequest,
  rawServer,
  replies,
  repliesAndCloses,
} from './hostile/raw-server.ts';

const DEADLINE_MS = 200;
const PATIENT_MS = 5000;
const CAP_BYTES = 1024;

const sender = loopbackSender({ responseCapBytes: CAP_BYTES });
afterAll(() => sender.close());

interface Answer {
  readonly status: number;
  readonly body?: string | RegExp;
  readonly truncated?: boolean;
}
type Expected = readonly [ErrorKind, RegExp] | Answer;
type Scenario = readonly [name: string, onSocket: OnSocket, expected: Expected];

const HEAD = 'HTTP/1.1 200 OK\r\n';
const NO_HEADERS: Expected = ['timeout', /^no response headers within 200 ms$/];
const NO_BODY: Expected = ['timeout', /^response body not finished within 200 ms$/];
const MALFORMED: Expected = ['malformed_response', /not a valid HTTP response/];
const RESET: Expected = ['connection_reset', /the connection was (closed|reset) before it answered/];
const CUT: Expected = ['connection_reset', /the connection was (closed|reset) before the response body was complete/];
const bomb = gzipSync(Buffer.alloc(300_000));
const bigBomb = gzipSync(Buffer.alloc(5_000_000));

const SCENARIOS: readonly Scenario[] = [
  // time
  ['accepts and never answers', () => {}, NO_HEADERS],
  ['drips the status line', drips('HTTP/1.1 200 ', 'O'), NO_HEADERS],
  ['drips header bytes', drips(`${HEAD}x-slow: `, 'a'), NO_HEADERS],
  ['drips headers', drips(HEAD, 'x-slow: a\r\n'), NO_HEADERS],
  ['drips blank lines before the status line', drips('', '\r\n'), NO_HEADERS],
  ['sends headers and falls silent', replies(`${HEAD}content-length: 2\r\n\r\n`), NO_BODY],
  ['drips a body of known length', drips(`${HEAD}content-length: 1000\r\n\r\n`, 'a'), NO_BODY],
  ['drips a chunked body', drips(`${HEAD}transfer-encoding: chunked\r\n\r\n`, '1\r\na\r\n'), NO_BODY],
  ['drips a body that ends with the connection', drips(`${HEAD}connection: close\r\n\r\n`, 'a'), NO_BODY],
  ['drips a chunk extension', drips(`${HEAD}transfer-encoding: chunked\r\n\r\n1;`, 'a'), NO_BODY],
  ['announces an answer (103) that never comes', replies('HTTP/1.1 103 Early Hints\r\n\r\n'), NO_HEADERS],
  ['closes its side only after the deadline', (socket) => socket.resume(), NO_HEADERS],
  // size
  [
    'sends an endless body',
    floods(`${HEAD}\r\n`, 'a'.repeat(8192)),
    { status: 200, body: 'a'.repeat(CAP_BYTES), truncated: true },
  ],
  [
    'sends an endless chunked body',
    floods(`${HEAD}transfer-encoding: chunked\r\n\r\n`, `400\r\n${'b'.repeat(1024)}\r\n`),
    { status: 200, body: 'b'.repeat(CAP_BYTES), truncated: true },
  ],
  [
    'sends an endless error page',
    floods('HTTP/1.1 500 Oops\r\n\r\n', 'e'.repeat(64)),
    { status: 500, truncated: true },
  ],
  [
    'announces a body of 10 GB',
    floods(`${HEAD}content-length: 10000000000\r\n\r\n`, 'x'.repeat(8192)),
    { status: 200, truncated: true },
  ],
  [
    'sends a gzip bomb below the cap',
    replies(
      Buffer.concat([Buffer.from(`${HEAD}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`), bomb]),
    ),
    { status: 200, body: `[gzip, ${bomb.length} bytes, not decoded]`, truncated: false },
  ],
  [
    'sends a gzip bomb beyond the cap',
    replies(
      Buffer.concat([
        Buffer.from(`${HEAD}content-encoding: gzip, gzip\r\ncontent-length: ${bigBomb.length}\r\n\r\n`),
        bigBomb,
      ]),
    ),
    { status: 200, body: `[gzip, gzip, more than ${CAP_BYTES} bytes, not decoded]`, truncated: true },
  ],
  [
    'sends one header of 64 KB',
    replies(`${HEAD}x-big: ${'a'.repeat(65_536)}\r\n\r\n`),
    ['malformed_response', /16 KiB/],
  ],
  ['sends 20,000 headers', replies(`${HEAD}${'x-y: z\r\n'.repeat(20_000)}\r\n`), ['malformed_response', /16 KiB/]],
  ['sends headers without an end', floods(HEAD, 'x-y: z\r\n'.repeat(100)), ['malformed_response', /16 KiB/]],
  [
    'sends trailers without an end',
    floods(`${HEAD}transfer-encoding: chunked\r\n\r\n0\r\n`, 'x-y: z\r\n'.repeat(100)),
    { status: 200, body: '', truncated: true },
  ],
  ['sends one-letter headers without an end', floods(HEAD, 'x:\r\n'.repeat(2000)), ['malformed_response', /16 KiB/]],
  [
    'sends a chunk extension without an end',
    floods(`${HEAD}transfer-encoding: chunked\r\n\r\n1;`, 'a'.repeat(8192)),
    { status: 200, body: '', truncated: true },
  ],
  [
    'sends an endless body in chunks of one byte',
    floods(`${HEAD}transfer-encoding: chunked\r\n\r\n`, '1\r\na\r\n'.repeat(1000)),
    { status: 200, truncated: true },
  ],
  // syntax
  ['is a mail server', (socket) => socket.write('220 mail.example.com ESMTP\r\n'), MALFORMED],
  ['is an SSH server', (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n'), MALFORMED],
  ['sends random bytes', replies(Buffer.from([0, 1, 2, 255, 254, 13, 10, 13, 10])), MALFORMED],
  ['answers in HTTP/0.9', repliesAndCloses('<html>hello</html>'), MALFORMED],
  ['answers in HTTP/2 frames', replies(Buffer.from('000000040000000000', 'hex')), MALFORMED],
  ['claims HTTP/3.7', replies('HTTP/3.7 200 OK\r\n\r\n'), MALFORMED],
  ['swaps status and reason', replies('HTTP/1.1 OK 200\r\n\r\n'), MALFORMED],
  ['sends a status of four digits', replies('HTTP/1.1 2000 OK\r\n\r\n'), MALFORMED],
  ['sends status 000', replies('HTTP/1.1 000 Nothing\r\ncontent-length: 0\r\n\r\n'), MALFORMED],
  ['sends status 099', replies('HTTP/1.1 099 Less\r\ncontent-length: 0\r\n\r\n'), MALFORMED],
  ['sends a header without a colon', replies(`${HEAD}nonsense\r\n\r\n`), MALFORMED],
  ['sends a NUL in a header', replies(`${HEAD}x-a: b\0c\r\n\r\n`), MALFORMED],
  ['sends a space in a header name', replies(`${HEAD}content-length: 2\r\nx y: z\r\n\r\nok`), MALFORMED],
  [
    'sends a chunk size that is not a number',
    replies(`${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n`),
    MALFORMED,
  ],
  [
    'sends a chunk longer than its size',
    replies(`${HEAD}transfer-encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n`),
    MALFORMED,
  ],
  ['sends a negative Content-Length', replies(`${HEAD}content-length: -5\r\n\r\nhello`), MALFORMED],
  [
    'sends a Content-Length beyond 64 bits',
    replies(`${HEAD}content-length: 99999999999999999999999\r\n\r\n`),
    MALFORMED,
  ],
  ['sends two Content-Lengths', replies(`${HEAD}content-length: 2\r\ncontent-length: 5\r\n\r\nok`), MALFORMED],
  [
    'sends Content-Length and chunks together',
    replies(`${HEAD}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
    MALFORMED,
  ],
  ['answers 100 Continue without being asked', replies(`HTTP/1.1 100 Continue\r\n\r\n${ok()}`), MALFORMED],
  ['answers 100 Continue for ever', floods('', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000)), MALFORMED],
  [
    'answers 103 for ever',
    floods('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000)),
    ['malformed_response', /informational/],
  ],
  ['switches protocols', replies('HTTP/1.1 101 Switching\r\nupgrade: ws\r\nconnection: upgrade\r\n\r\n'), MALFORMED],
  ['answers 101 without an upgrade', replies('HTTP/1.1 101 Switching\r\n\r\n'), MALFORMED],
  // connections cut
  ['closes on accept', (socket) => socket.end(), RESET],
  ['resets on accept', (socket) => socket.resetAndDestroy(), ['connection_reset', /./]],
  ['closes after reading the request', onRequest((socket) => socket.end()), RESET],
  ['resets after reading the request', onRequest((socket) => socket.resetAndDestroy()), RESET],
  ['closes within the status line', repliesAndCloses('HTTP/1.1 2'), RESET],
  ['closes within the headers', repliesAndCloses(`${HEAD}content-length: 2\r\nx-a: `), RESET],
  ['closes within a body of known length', repliesAndCloses(`${HEAD}content-length: 10\r\n\r\nhalf`), CUT],
  [
    'closes within a body of known length and had said so',
    repliesAndCloses(`${HEAD}connection: close\r\ncontent-length: 10\r\n\r\nhalf`),
    CUT,
  ],
  [
    'closes within a chunked body',
    repliesAndCloses(`${HEAD}connection: close\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel`),
    CUT,
  ],
  [
    'resets within a body',
    onRequest((socket) => socket.write(`${HEAD}content-length: 10\r\n\r\nhalf`, () => socket.resetAndDestroy())),
    CUT,
  ],
  // odd, yet answers
  ['sends status 600', replies('HTTP/1.1 600 Odd\r\ncontent-length: 0\r\n\r\n'), { status: 600, body: '' }],
  ['sends status 999', replies('HTTP/1.1 999 Denied\r\ncontent-length: 0\r\n\r\n'), { status: 999, body: '' }],
  ['sends no reason and no headers', repliesAndCloses('HTTP/1.1 200\r\n\r\n'), { status: 200, body: '' }],
  [
    'sends 204 with a body',
    repliesAndCloses('HTTP/1.1 204 None\r\ncontent-length: 4\r\n\r\nbody'),
    { status: 204, body: '' },
  ],
  ['sends 304 to a POST', replies('HTTP/1.1 304 Same\r\ncontent-length: 100\r\n\r\n'), { status: 304, body: '' }],
  ['answers in HTTP/1.0', repliesAndCloses('HTTP/1.0 200 OK\r\n\r\nold'), { status: 200, body: 'old' }],
  [
    'announces with 103, then answers',
    replies(`HTTP/1.1 103 Early Hints\r\n\r\n${ok('late')}`),
    { status: 200, body: 'late' },
  ],
  ['answers before it reads the request', (socket) => socket.write(ok('early')), { status: 200, body: 'early' }],
  ['answers twice', replies(ok('first') + ok('second')), { status: 200, body: 'first' }],
  ['sends garbage after the answer', replies(`${ok('fine')}\0\x01garbage`), { status: 200, body: 'fine' }],
  [
    'sends more than Content-Length says',
    replies(`${HEAD}content-length: 2\r\n\r\nokokok`),
    { status: 200, body: 'ok' },
  ],
  [
    'offers no keep-alive time',
    replies(ok('a', 'connection: keep-alive\r\nkeep-alive: timeout=0\r\n')),
    { status: 200, body: 'a' },
  ],
  [
    'offers keep-alive for ever',
    replies(ok('a', 'keep-alive: timeout=99999999999999\r\n')),
    { status: 200, body: 'a' },
  ],
  ['sends a NUL in the body', replies(ok('a\0b')), { status: 200, body: 'a\uFFFDb' }],
  ['names a header __proto__', replies(ok('a', '__proto__: x\r\nconstructor: y\r\n')), { status: 200, body: 'a' }],
];

describe('hostile endpoints', () => {
  for (const [name, onSocket, expected] of SCENARIOS) {
    it(`SPI-10 an endpoint that ${name} has its named outcome within the deadline, and the next send works`, async () => {
      await using hostile = await rawServer(onSocket);
      await using healthy = await rawServer(replies(ok()));
      const startedAt = performance.now();
      // Who answers has the time that a busy machine takes for it; who does not is waited for no longer than needed.
      const totalTimeoutMs = Array.isArray(expected) ? DEADLINE_MS : PATIENT_MS;
      const outcome = await sender.send(post(hostile.url, { totalTimeoutMs }));
      expect(performance.now() - startedAt).toBeLessThan(totalTimeoutMs + 500);
      expectOutcome(outcome, expected);
      expect(hostile.connections()).toBe(1);
      await expect(sender.send(post(healthy.url))).resolves.toMatchObject({
        kind: 'response',
        status: 200,
        body: 'ok',
      });
    });
  }

  it('an endpoint that does not read the request has its named outcome within the deadline', async () => {
    await using hostile = await rawServer((socket) => socket.pause());
    const outcome = await sender.send(
      post(hostile.url, { totalTimeoutMs: DEADLINE_MS, body: Buffer.alloc(20_000_000) }),
    );
    expectOutcome(outcome, NO_HEADERS);
  });

  it('a closed port is connection_refused and names the peer', async () => {
    const gone = await rawServer(() => {});
    await gone[Symbol.asyncDispose]();
    const outcome = await sender.send(post(gone.url));
    expectOutcome(outcome, ['connection_refused', new RegExp(`^connection refused by 127.0.0.1:${gone.port}$`)]);
  });

  it('an answer cut at the cap closes its connection and no other of the same origin', async () => {
    const small = loopbackSender({ responseCapBytes: 16, maxConnectionsPerOrigin: 2 });
    await using server = await rawServer(
      onRequest((socket, request) => socket.write(request.includes('POST /big') ? ok('x'.repeat(100)) : ok())),
    );
    const [big, fine] = await Promise.all([
      small.send(post(`http://127.0.0.1:${server.port}/big`)),
      small.send(post(`http://127.0.0.1:${server.port}/fine`)),
    ]);
    expect(big).toMatchObject({ status: 200, body: 'x'.repeat(16), bodyTruncated: true });
    expect(fine).toMatchObject({ status: 200, body: 'ok' });
    await small.send(post(`http://127.0.0.1:${server.port}/fine`));
    expect(server.connections()).toBe(2);
    await small.close();
  });

  it('a thousand hostile answers leave no connection behind', async () => {
    const busy = loopbackSender({ maxConnectionsPerOrigin: 8 });
    let open = 0;
    await using server = await rawServer((socket) => {
      open++;
      socket.on('close', () => open--);
      replies('HTTP/1.1 nonsense\r\n\r\n')(socket);
    });
    const outcomes = await Promise.all(
      Array.from({ length: 1000 }, () => busy.send(post(server.url, { totalTimeoutMs: 10_000 }))),
    );
    expect(outcomes.every((outcome) => outcome.kind === 'failure' && outcome.error === 'malformed_response')).toBe(
      true,
    );
    expect(server.connections()).toBe(1000);
    await busy.close();
    await expect.poll(() => open).toBe(0);
  });
});

function expectOutcome(outcome: unknown, expected: Expected): void {
  if ('status' in expected) {
    expect(outcome).toMatchObject({ kind: 'response', status: expected.status });
    if (expected.body !== undefined) expect(outcome).toHaveProperty('body', expected.body);
    if (expected.truncated !== undefined) expect(outcome).toHaveProperty('bodyTruncated', expected.truncated);
    return;
  }
  const [error, message] = expected;
  expect(outcome).toMatchObject({ kind: 'failure', error, message: expect.stringMatching(message) });
}
