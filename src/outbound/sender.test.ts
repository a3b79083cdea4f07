import { connect, type Socket } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { loopbackSender, post } from './hostile/loopback-sender.ts';
import { ok, onRequest, rawServer, replies } from './hostile/raw-server.ts';
import { createAddressGuard, createSender, type SenderOptions } from './index.ts';

const sender = loopbackSender();
afterAll(() => sender.close());

describe('a delivery', () => {
  it('is one POST with the given headers and the exact bytes', async () => {
    await using server = await rawServer(replies(ok('thanks')));
    const outcome = await sender.send(
      post(`http://127.0.0.1:${server.port}/a/b?c=d`, { headers: ['Webhook-Id', 'msg_1', 'host', 'evil.example.com'] }),
    );
    expect(outcome).toEqual({
      kind: 'response',
      status: 200,
      body: 'thanks',
      bodyTruncated: false,
      durationMs: expect.any(Number),
    });
    expect(server.received()).toBe(
      `POST /a/b?c=d HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nconnection: keep-alive\r\n` +
        'Webhook-Id: msg_1\r\nuser-agent: Posthorn/test\r\ncontent-length: 17\r\n\r\n{"hello":"world"}',
    );
  });

  it('may carry its own user agent and an empty body', async () => {
    await using server = await rawServer(replies(ok()));
    await sender.send(post(server.url, { headers: ['User-Agent', 'Mine/1'], body: new Uint8Array() }));
    expect(server.received()).toContain('User-Agent: Mine/1\r\n');
    expect(server.received()).not.toContain('Posthorn/test');
    expect(server.received()).toMatch(/content-length: 0\r\n\r\n$/);
  });

  it('keeps Retry-After and webhook-delivery as they came, the first of several, cut to a sane length', async () => {
    const headers = `retry-after: 120\r\nretry-after: 5\r\nwebhook-delivery: ${'x'.repeat(1000)}\r\n`;
    await using server = await rawServer(replies(ok('', headers).replace('200 OK', '429 Slow')));
    const outcome = await sender.send(post(server.url));
    expect(outcome).toMatchObject({ status: 429, retryAfter: '120', webhookDelivery: 'x'.repeat(256) });
  });

  it('with a header that cannot be sent is a failure, not an exception', async () => {
    await using server = await rawServer(replies(ok()));
    const outcome = await sender.send(post(server.url, { headers: ['x-bad', 'a\r\nb'] }));
    expect(outcome).toMatchObject({ kind: 'failure', error: 'unexpected', message: 'invalid x-bad header' });
    expect(server.received()).toBe('');
    await expect(sender.send(post(server.url))).resolves.toMatchObject({ status: 200 });
  });
});

describe('SPI-10 timeouts', () => {
  it('SPI-10 the connection has its own, shorter limit', async () => {
    const stuck = dialling(silentSocket);
    const outcome = await stuck.send(post('http://blackhole.example.com/', { connectTimeoutMs: 60 }));
    expect(outcome).toMatchObject({ error: 'connect_timeout', message: 'no connection to 8.8.8.8:80 within 60 ms' });
    await stuck.close();
  });

  it('SPI-10 waiting for a free connection counts', async () => {
    const narrow = loopbackSender({ maxConnectionsPerOrigin: 1 });
    await using server = await rawServer(() => {});
    const [first, second] = await Promise.all([
      narrow.send(post(server.url, { totalTimeoutMs: 300 })),
      narrow.send(post(server.url, { totalTimeoutMs: 100 })),
    ]);
    expect(first).toMatchObject({ error: 'timeout', message: 'no response headers within 300 ms' });
    expect(second).toMatchObject({ error: 'timeout', message: 'no free connection to the endpoint within 100 ms' });
    expect(server.connections()).toBe(1);
    await narrow.close();
  });

  it('SPI-10 a dead first address leaves time for the others', async () => {
    await using server = await rawServer(replies(ok()));
    const dialled: string[] = [];
    const two = dialling(
      ({ address }) => {
        dialled.push(address);
        return address === '8.8.8.8' ? silentSocket() : connect({ host: '127.0.0.1', port: server.port });
      },
      ['8.8.8.8', '8.8.4.4'],
    );
    const outcome = await two.send(post('http://two.example.com/', { connectTimeoutMs: 300 }));
    expect(outcome).toMatchObject({ status: 200 });
    expect(dialled).toEqual(['8.8.8.8', '8.8.4.4']);
    await two.close();
  });
});

describe('connections', () => {
  it('are kept alive and reused, never more than the limit', async () => {
    const few = loopbackSender({ maxConnectionsPerOrigin: 4 });
    await using server = await rawServer(replies(ok()));
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => few.send(post(server.url))));
    expect(outcomes.every((outcome) => outcome.kind === 'response' && outcome.status === 200)).toBe(true);
    expect(server.connections()).toBe(4);
    await few.close();
  });

  it('that the server closes after each answer are opened again', async () => {
    await using server = await rawServer(onRequest((socket) => socket.end(ok('ok', 'connection: close\r\n'))));
    for (let i = 0; i < 5; i++) await expect(sender.send(post(server.url))).resolves.toMatchObject({ status: 200 });
    expect(server.connections()).toBe(5);
  });

  it('that the server closes without a word while idle cost no delivery', async () => {
    const sockets: Socket[] = [];
    await using server = await rawServer((socket) => {
      sockets.push(socket);
      replies(ok())(socket);
    });
    for (let i = 0; i < 5; i++) {
      await expect(sender.send(post(server.url))).resolves.toMatchObject({ status: 200 });
      const closed = new Promise((resolve) => sockets.at(-1)?.once('close', resolve));
      sockets.at(-1)?.end();
      await closed;
    }
    expect(server.connections()).toBe(5);
  });

  it('a request is written once: a connection that closes on the second request is connection_reset, not a retry', async () => {
    let requests = 0;
    await using server = await rawServer(
      onRequest((socket) => {
        if (++requests === 1) socket.write(ok());
        else socket.destroy();
      }),
    );
    await sender.send(post(server.url));
    await expect(sender.send(post(server.url))).resolves.toMatchObject({ error: 'connection_reset' });
    expect(requests).toBe(2);
  });

  it('of idle origins beyond the limit are closed, least recently used first', async () => {
    const small = loopbackSender({ maxOrigins: 2 });
    await using a = await rawServer(replies(ok()));
    await using b = await rawServer(replies(ok()));
    await using c = await rawServer(replies(ok()));
    for (const server of [a, b, a, c]) await small.send(post(server.url));
    await small.send(post(a.url));
    expect(a.connections()).toBe(1);
    await small.send(post(b.url));
    expect(b.connections()).toBe(2);
    await small.close();
  });

  it('the next address is dialled when one refuses', async () => {
    await using server = await rawServer(replies(ok()));
    const gone = await rawServer(() => {});
    await gone[Symbol.asyncDispose]();
    const two = dialling(
      ({ address }) => connect({ host: '127.0.0.1', port: address === '8.8.8.8' ? gone.port : server.port }),
      ['8.8.8.8', '8.8.4.4'],
    );
    await expect(two.send(post('http://two.example.com/'))).resolves.toMatchObject({ status: 200 });
    await two.close();
  });
});

describe('interruption', () => {
  it('a signal ends what shares it as interrupted and closes the connections', async () => {
    let open = 0;
    await using server = await rawServer((socket) => {
      open++;
      socket.on('close', () => open--);
      socket.on('end', () => socket.end());
      socket.resume();
    });
    const stop = new AbortController();
    const sends = Array.from({ length: 20 }, () => sender.send(post(server.url, { signal: stop.signal })));
    await expect.poll(() => open).toBe(20);
    stop.abort();
    for (const outcome of await Promise.all(sends)) expect(outcome).toMatchObject({ error: 'interrupted' });
    await expect.poll(() => open).toBe(0);
    await expect(sender.send(post(server.url, { signal: stop.signal }))).resolves.toMatchObject({
      error: 'interrupted',
    });
  });

  it('close lets what is under way finish and takes nothing more', async () => {
    const closing = loopbackSender();
    let answer = (): void => {};
    await using server = await rawServer(
      onRequest((socket) => {
        answer = () => socket.write(ok('finished'));
      }),
    );
    const underWay = closing.send(post(server.url));
    await expect.poll(() => server.received()).toContain('hello');
    const closed = closing.close();
    await expect(closing.send(post(server.url))).resolves.toMatchObject({ error: 'interrupted' });
    answer();
    await expect(underWay).resolves.toMatchObject({ status: 200, body: 'finished' });
    await closed;
  });
});

function dialling(dial: NonNullable<SenderOptions['connect']>, addresses = ['8.8.8.8']) {
  return createSender({
    clock: systemClock,
    guard: createAddressGuard({ allow: [] }),
    userAgent: 'Posthorn/test',
    resolve: async () => addresses.map((address) => ({ address })),
    connect: dial,
  });
}

/** A socket that never connects and never fails, like one to an address that drops packets. */
function silentSocket(): Socket {
  return connect({ host: 'never.invalid', port: 1, lookup: () => {} });
}
