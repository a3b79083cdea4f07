import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { createAddressGuard, createSender } from '../outbound/index.ts';
import { createManualClock } from '../testing/manual-clock.ts';
import { createVerifyPorts } from './verify-ports.ts';

const noSender = { send: () => Promise.reject(new Error('not asked')) };
const urlOf = (n: number) => `https://api.paypal.com/v1/notifications/certs/CERT-${n}`;

it('ALL-04 strangers who name many certificates cause few requests at once, and few after that', async () => {
  const clock = createManualClock();
  const asked: { url: string; answer: (text: string) => void }[] = [];
  const fetch = (url: string) => new Promise<string>((answer) => asked.push({ url, answer }));
  const ports = createVerifyPorts(noSender, clock, { fetch });
  const burst = Array.from({ length: 50 }, (_, n) => ports.fetchCertificate(urlOf(n)).catch(() => 'refused'));
  expect(asked).toHaveLength(8);
  for (const { answer } of asked) answer('pem');
  expect((await Promise.all(burst)).filter((text) => text === 'pem')).toHaveLength(8);
  for (let n = 50; n < 500; n++) {
    const text = ports.fetchCertificate(urlOf(n)).catch(() => 'refused');
    asked.at(-1)?.answer('pem');
    await text;
  }
  expect(asked).toHaveLength(30);
  await clock.advance(500);
  const later = ports.fetchCertificate(urlOf(1000));
  asked.at(-1)?.answer('pem');
  expect(await later).toBe('pem');
  await expect(ports.fetchCertificate(urlOf(1001))).rejects.toThrow('in a short time');
  expect(asked).toHaveLength(31);
});

it('PAY-10 what failed, or verified nothing, is forgotten before a certificate that verified', async () => {
  const clock = createManualClock();
  let fetches = 0;
  const fetch = async (url: string) => {
    fetches += 1;
    if (Number(url.slice(url.lastIndexOf('-') + 1)) % 2 === 1) throw new Error('404');
    return 'pem';
  };
  const ports = createVerifyPorts(noSender, clock, { fetch });
  await ports.fetchCertificate(urlOf(0));
  ports.trustCertificate?.(urlOf(0));
  for (let n = 1; n < 600; n++) {
    if (n % 100 === 0) await clock.advance(60_000);
    await ports.fetchCertificate(urlOf(n)).catch(() => {});
  }
  const before = fetches;
  expect(await ports.fetchCertificate(urlOf(0))).toBe('pem');
  expect(fetches).toBe(before);
});

/** A real server, asked by a real sender. */
async function askedServer(answer: RequestListener) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const guard = createAddressGuard({ allow: ['127.0.0.0/8'] });
  const sender = createSender({ clock: systemClock, guard, userAgent: 'test' });
  return {
    ports: createVerifyPorts(sender, systemClock),
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/asked`,
    paths,
    async [Symbol.asyncDispose]() {
      await sender.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

it.each<[string, RequestListener, string | undefined]>([
  ['the PEM', (_, response) => response.end('pem'), undefined],
  ['a redirect', (_, response) => response.writeHead(302, { location: '/other' }).end('pem'), 'it answered 302'],
  ['a 404', (_, response) => response.writeHead(404).end('pem'), 'it answered 404'],
  ['more than a certificate has', (_, response) => response.end('x'.repeat(20_000)), 'more than a certificate'],
])(
  'PAY-10 %s as the answer for a certificate or a subscription: only a whole 200 counts, and no redirect is followed',
  async (_, answer, problem) => {
    await using server = await askedServer(answer);
    const { ports, url, paths } = server;
    if (problem === undefined) {
      expect(await ports.fetchCertificate(url)).toBe('pem');
      expect(await ports.confirmSubscription(url)).toBeUndefined();
    } else {
      await expect(ports.fetchCertificate(url)).rejects.toThrow(problem);
      await expect(ports.confirmSubscription(url)).rejects.toThrow(problem);
    }
    expect(paths).toEqual(['/asked', '/asked']);
  },
);

it('PAY-10 a certificate that could not be had is asked for again after five seconds, and not before', async () => {
  const clock = createManualClock();
  let fetches = 0;
  const fetch = async () => {
    fetches += 1;
    if (fetches === 1) throw new Error('it answered 500');
    return 'pem';
  };
  const ports = createVerifyPorts(noSender, clock, { fetch });
  await expect(ports.fetchCertificate(urlOf(1))).rejects.toThrow('500');
  await clock.advance(4999);
  await expect(ports.fetchCertificate(urlOf(1))).rejects.toThrow('500');
  await clock.advance(1);
  expect(await ports.fetchCertificate(urlOf(1))).toBe('pem');
  expect(fetches).toBe(2);
});
