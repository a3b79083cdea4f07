import { connect, type Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { makeCertificates } from './hostile/certificates.ts';
import { loopbackSender, post } from './hostile/loopback-sender.ts';
import { ok, onRequest, rawServer, replies } from './hostile/raw-server.ts';
import { createAddressGuard, createSender } from './index.ts';

const certificates = makeCertificates();
const sender = loopbackSender({ ca: certificates.ca });
afterAll(() => sender.close());

describe('https', () => {
  it('delivers over a certificate that a trusted authority has signed, and reuses the connection', async () => {
    await using server = await rawServer(replies(ok('secret')), certificates.good);
    for (let i = 0; i < 3; i++) {
      await expect(sender.send(post(server.url))).resolves.toMatchObject({ status: 200, body: 'secret' });
    }
    expect(server.connections()).toBe(1);
  });

  it('resumes the session of an earlier connection', async () => {
    const reused: boolean[] = [];
    const close = onRequest((socket) => socket.end(ok('ok', 'connection: close\r\n')));
    await using server = await rawServer((socket) => {
      reused.push('isSessionReused' in socket && (socket as { isSessionReused(): boolean }).isSessionReused());
      close(socket);
    }, certificates.good);
    await sender.send(post(server.url));
    await sender.send(post(server.url));
    expect(reused).toEqual([false, true]);
  });

  it('ALL-04 sends the name as SNI and Host, and checks the certificate against it, while it dials an address', async () => {
    let seen = '';
    await using server = await rawServer(replies(ok()), {
      ...certificates.good,
      SNICallback: (name, done) => {
        seen = name;
        done(null, createSecureContext(certificates.good));
      },
    });
    const named = createSender({
      clock: systemClock,
      guard: createAddressGuard({ allow: [] }),
      userAgent: 'Posthorn/test',
      ca: certificates.ca,
      resolve: async () => [{ address: '8.8.8.8' }],
      connect: (): Socket => connect({ host: '127.0.0.1', port: server.port }),
    });
    await expect(named.send(post('https://hooks.example.com/'))).resolves.toMatchObject({ status: 200 });
    expect(seen).toBe('hooks.example.com');
    expect(server.received()).toContain('host: hooks.example.com\r\n');
    await expect(named.send(post('https://elsewhere.example.com/'))).resolves.toMatchObject({ error: 'tls' });
    await named.close();
  });

  it.each([
    ['selfSigned', /self-signed/],
    ['expired', /expired/],
    ['otherHost', /for another host/],
  ] as const)('a certificate that is %s is tls, with what to do about it', async (name, message) => {
    await using server = await rawServer(replies(ok()), certificates[name]);
    const outcome = await sender.send(post(server.url));
    expect(outcome).toMatchObject({ kind: 'failure', error: 'tls', message: expect.stringMatching(message) });
    expect(server.received()).toBe('');
  });

  it('an authority that is not trusted is tls', async () => {
    const plain = loopbackSender();
    await using server = await rawServer(replies(ok()), certificates.good);
    await expect(plain.send(post(server.url))).resolves.toMatchObject({ error: 'tls' });
    expect(server.received()).toBe('');
  });

  it('a port that speaks plain HTTP is tls, and says so', async () => {
    await using server = await rawServer((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const outcome = await sender.send(post(`https://127.0.0.1:${server.port}/`));
    expect(outcome).toMatchObject({ error: 'tls', message: expect.stringContaining('does not speak TLS') });
  });

  it('a server without a TLS version in common is tls', async () => {
    const old = {
      ...certificates.good,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'ALL@SECLEVEL=0',
    } as const;
    await using server = await rawServer(replies(ok()), old);
    await expect(sender.send(post(server.url))).resolves.toMatchObject({ error: 'tls' });
  });

  it.each([
    ['closes', (socket: Socket) => socket.end()],
    ['resets', (socket: Socket) => socket.once('data', () => socket.resetAndDestroy())],
  ])('a server that %s during the handshake is connection_reset', async (_name, onSocket) => {
    await using server = await rawServer(onSocket);
    const outcome = await sender.send(post(`https://127.0.0.1:${server.port}/`));
    expect(outcome).toMatchObject({ error: 'connection_reset', message: expect.stringContaining('TLS handshake') });
  });

  it('SPI-10 a handshake that stalls is connect_timeout', async () => {
    await using server = await rawServer(() => {});
    const outcome = await sender.send(post(`https://127.0.0.1:${server.port}/`, { connectTimeoutMs: 100 }));
    expect(outcome).toMatchObject({
      error: 'connect_timeout',
      message: expect.stringMatching(/^the TLS handshake with 127\.0\.0\.1 .* did not finish within 100 ms$/),
    });
  });

  it('a redirect from https to http is refused', async () => {
    await using plain = await rawServer(replies(ok()));
    const moved = `HTTP/1.1 307 Go\r\nlocation: http://127.0.0.1:${plain.port}/\r\ncontent-length: 0\r\n\r\n`;
    await using server = await rawServer(replies(moved), certificates.good);
    const outcome = await sender.send(post(server.url, { redirects: 'follow' }));
    expect(outcome).toMatchObject({
      error: 'invalid_redirect',
      message: expect.stringContaining('from https to http'),
    });
    expect(plain.connections()).toBe(0);
  });
});
