import { expect, it } from 'vitest';
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
