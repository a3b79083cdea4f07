import { connect, type Socket } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { loopbackSender, post } from './hostile/loopback-sender.ts';
import { drips, type OnSocket, ok, onRequest, rawServer, replies } from './hostile/raw-server.ts';
import { createAddressGuard, createSender, type SendRequest } from './index.ts';

const sender = loopbackSender();
afterAll(() => sender.close());

const follow = (url: string, request: Partial<SendRequest> = {}) =>
  sender.send(post(url, { redirects: 'follow', ...request }));

function redirects(location: string | undefined, status = 302): OnSocket {
  const header = location === undefined ? '' : `location: ${location}\r\n`;
  return replies(`HTTP/1.1 ${status} Moved\r\n${header}content-length: 5\r\n\r\nmoved`);
}

describe('redirects that are not followed', () => {
  it.each(['success', 'failure'] as const)('SPI-05 with "%s" a 302 is the answer as it is', async (mode) => {
    await using server = await rawServer(redirects('http://127.0.0.1:1/'));
    const outcome = await sender.send(post(server.url, { redirects: mode }));
    expect(outcome).toMatchObject({ kind: 'response', status: 302, body: 'moved' });
    expect(server.connections()).toBe(1);
  });

  it.each([300, 303, 304, 305, 306])('BUL-04 with "follow" a %d is the answer as it is', async (status) => {
    await using server = await rawServer(redirects('http://127.0.0.1:1/', status));
    await expect(follow(server.url)).resolves.toMatchObject({ kind: 'response', status });
  });
});

describe('redirects that are followed', () => {
  it.each([301, 302, 307, 308])('BUL-04 a %d keeps method, body and headers', async (status) => {
    await using target = await rawServer(replies(ok('arrived')));
    await using server = await rawServer(redirects(`http://127.0.0.1:${target.port}/new?x=1`, status));
    const outcome = await follow(server.url, { headers: ['webhook-id', 'msg_1'] });
    expect(outcome).toMatchObject({ kind: 'response', status: 200, body: 'arrived' });
    expect(target.received()).toMatch(/^POST \/new\?x=1 HTTP\/1\.1\r\n/);
    expect(target.received()).toContain(`host: 127.0.0.1:${target.port}\r\n`);
    expect(target.received()).toContain('webhook-id: msg_1\r\n');
    expect(target.received()).toContain('user-agent: Posthorn/test\r\n');
    expect(target.received()).toMatch(/\r\n\r\n\{"hello":"world"\}$/);
  });

  it('BUL-04 a relative Location is read against the URL that answered', async () => {
    await using server = await rawServer(
      onRequest((socket, request) =>
        socket.write(
          request.startsWith('POST /hook ')
            ? 'HTTP/1.1 307 Moved\r\nlocation: ../other?z#frag\r\ncontent-length: 0\r\n\r\n'
            : ok(request.split(' ')[1]),
        ),
      ),
    );
    await expect(follow(server.url)).resolves.toMatchObject({ status: 200, body: '/other?z' });
    expect(server.connections()).toBe(1);
  });

  it('BUL-04 five hops are followed and a sixth is too_many_redirects', async () => {
    const chain = (hops: number): OnSocket =>
      onRequest((socket, request) => {
        const at = Number(/POST \/(\d*)/.exec(request)?.[1] ?? 0);
        socket.write(at >= hops ? ok('end') : `HTTP/1.1 302 Go\r\nlocation: /${at + 1}\r\ncontent-length: 0\r\n\r\n`);
      });
    await using five = await rawServer(chain(5));
    await using six = await rawServer(chain(6));
    await expect(follow(`http://127.0.0.1:${five.port}/0`)).resolves.toMatchObject({ status: 200, body: 'end' });
    await expect(follow(`http://127.0.0.1:${six.port}/0`)).resolves.toMatchObject({
      kind: 'failure',
      error: 'too_many_redirects',
    });
  });

  it('BUL-04 credentials stay within the origin, and so do the headers that the caller names', async () => {
    await using target = await rawServer(replies(ok()));
    await using server = await rawServer(
      onRequest((socket, request) => {
        const location = request.startsWith('POST /hook ') ? '/same' : `http://127.0.0.1:${target.port}/other`;
        socket.write(`HTTP/1.1 307 Go\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`);
      }),
    );
    const headers = [
      'Authorization',
      'Bearer s3cret',
      'Cookie',
      'a=b',
      'Proxy-Authorization',
      'x',
      'X-Api-Key',
      'k3y',
      'X-Plain',
      'p',
    ];
    await follow(server.url, { headers, crossOriginDropHeaders: ['x-api-key'] });
    const [, second = ''] = server.received().split('POST /same');
    expect(second).toContain('Authorization: Bearer s3cret');
    expect(second).toContain('X-Api-Key: k3y');
    expect(target.received()).toContain('X-Plain: p');
    expect(target.received()).not.toMatch(/authorization|cookie|x-api-key|s3cret|k3y/i);
  });

  it('BUL-04 one deadline covers all hops', async () => {
    await using slow = await rawServer(drips('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n', 'a'));
    await using server = await rawServer(redirects(`http://127.0.0.1:${slow.port}/`));
    const outcome = await follow(server.url, { totalTimeoutMs: 150 });
    expect(outcome).toMatchObject({ error: 'timeout', message: 'response body not finished within 150 ms' });
  });
});

describe('redirects that are refused', () => {
  it.each([
    [undefined, 'invalid_redirect'],
    ['', 'invalid_redirect'],
    ['http://', 'invalid_redirect'],
    ['http://exa mple.com:99999/', 'invalid_redirect'],
    ['ftp://example.com/', 'invalid_redirect'],
    ['file:///etc/passwd', 'invalid_redirect'],
    ['javascript:alert(1)', 'invalid_redirect'],
    ['http://user:pass@127.0.0.1/', 'invalid_redirect'],
    ['http://10.0.0.1/', 'blocked_address'],
    ['//192.168.0.1/admin', 'blocked_address'],
    ['http://169.254.169.254/latest/meta-data/', 'blocked_address'],
    ['http://0xa9fea9fe/', 'blocked_address'],
    ['http://[::ffff:10.0.0.1]/', 'blocked_address'],
    ['http://[64:ff9b::a00:1]/', 'blocked_address'],
    ['http://metadata.google.internal/', 'blocked_address'],
  ])('BUL-04 ALL-04 a redirect to %j is %s', async (location, error) => {
    await using server = await rawServer(redirects(location, 308));
    const outcome = await follow(server.url);
    expect(outcome).toMatchObject({ kind: 'failure', error });
    expect(server.connections()).toBe(1);
  });

  it('BUL-04 ALL-04 a redirect to a name that resolves to a private address is never dialled', async () => {
    await using server = await rawServer(redirects('http://inside.example.com/'));
    const dialled: string[] = [];
    const guarded = createSender({
      clock: systemClock,
      guard: createAddressGuard({ allow: [] }),
      userAgent: 'Posthorn/test',
      resolve: async (name) => [{ address: name === 'inside.example.com' ? '10.0.0.9' : '8.8.8.8' }],
      connect: ({ address }): Socket => {
        dialled.push(address);
        return connect({ host: '127.0.0.1', port: server.port });
      },
    });
    const outcome = await guarded.send(post('http://outside.example.com/', { redirects: 'follow' }));
    expect(outcome).toMatchObject({ error: 'blocked_address', message: expect.stringContaining('10.0.0.9') });
    expect(dialled).toEqual(['8.8.8.8']);
    await guarded.close();
  });
});
