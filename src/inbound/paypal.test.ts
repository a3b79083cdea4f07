import { crc32 } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import { findProvider } from './providers/index.ts';
import { makeAuthority } from './providers/testing/make-chain.ts';
import { steerChecksum } from './providers/testing/steer-checksum.ts';
import { createInboundRig } from './testing/inbound-rig.ts';

const authority = makeAuthority();
afterAll(() => authority.close());
const issued = authority.issue('good', { commonName: 'messageverificationcerts.paypal.com' });
const ports = { trustedRoots: [authority.root], fetchCertificate: () => Promise.resolve(issued.pem) };
const certificateUrl = 'https://api.paypal.com/v1/notifications/certs/CERT-1';
const paypal = findProvider('paypal');

it('PAY-01 PAY-10 an event of PayPal is verified by its certificate, stored and handled at once; a forged one is not', async () => {
  const other = authority.issue('other', { commonName: 'messageverificationcerts.paypal.com' });
  await using rig = await createInboundRig({ ports });
  const seen: string[] = [];
  const source = rig
    .source('paypal', { settings: { webhookId: 'WH-1' } })
    .on('PAYMENT.CAPTURE.COMPLETED', (_, context) => {
      seen.push(context.eventId);
    });
  const sample = paypal.sample('PAYMENT.CAPTURE.COMPLETED', { now: Date.now(), token: '1AB2' });
  const send = (privateKey: string) => {
    const signed = paypal.sign(sample, { webhookId: 'WH-1', privateKey, certificateUrl }, Date.now());
    return source.receive(
      new Request('http://localhost/', { method: 'POST', body: Buffer.from(signed.body), headers: signed.headers }),
    );
  };
  expect((await send(other.privateKey)).status).toBe(401);
  expect((await send(issued.privateKey)).status).toBe(200);
  await rig.attempts(1);
  expect(seen).toHaveLength(1);
  expect((await rig.messages('paypal')).map(({ eventId }) => eventId)).toEqual(seen);
});

it('SUB-02 PAY-10 a captured request of PayPal brings no other body, though one is given the same checksum', async () => {
  await using rig = await createInboundRig({ ports });
  const source = rig.source('paypal', { settings: { webhookId: 'WH-1' } });
  const sample = paypal.sample('PAYMENT.CAPTURE.COMPLETED', { now: Date.now(), token: '1AB2' });
  const sign = (body: string, now = Date.now()) =>
    paypal.sign(
      { ...sample, body: Buffer.from(body) },
      { webhookId: 'WH-1', privateKey: issued.privateKey, certificateUrl },
      now,
    );
  const send = async (body: string, { headers } = sign(body)) =>
    (await source.receive(new Request('http://localhost/', { method: 'POST', body, headers }))).status;

  const text = Buffer.from(sample.body).toString();
  const captured = sign(text);
  const other = text.replace('WH-1AB2', 'WH-forged').replace('30.00', '99.00');
  const forged = steerChecksum(`${other.slice(0, -1)},"x":"`, '"}', crc32(text));
  expect(JSON.parse(forged)).toMatchObject({ id: 'WH-forged' });
  expect(crc32(forged)).toBe(crc32(text));

  expect(await send(text, captured)).toBe(200);
  expect(await send(forged, captured)).toBe(401);
  expect(await send(text, captured)).toBe(200);
  // What a retry may be, for all that PayPal says: signed at another time, or written with other bytes.
  expect(await send(text, sign(text, Date.now() + 60_000))).toBe(200);
  expect(await send(text.replace('{', '{ '))).toBe(200);
  expect((await rig.messages('paypal')).map(({ eventId }) => eventId)).toEqual(['WH-1AB2']);
});

it('PAY-10 an event of PayPal whose certificate cannot be had is answered 503, and taken when it comes again', async () => {
  let isDown = true;
  const fetchCertificate = () => (isDown ? Promise.reject(new Error('it answered 502')) : Promise.resolve(issued.pem));
  await using rig = await createInboundRig({ ports: { ...ports, fetchCertificate } });
  const source = rig.source('paypal', { settings: { webhookId: 'WH-1' } }).on('*', () => {});
  const sample = paypal.sample('PAYMENT.CAPTURE.COMPLETED', { now: Date.now(), token: '1AB2' });
  const { body, headers } = paypal.sign(
    sample,
    { webhookId: 'WH-1', privateKey: issued.privateKey, certificateUrl },
    Date.now(),
  );
  const send = () =>
    source.receive(new Request('http://localhost/', { method: 'POST', body: Buffer.from(body), headers }));
  const answer = await send();
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await rig.messages('paypal')).toEqual([]);
  isDown = false;
  expect((await send()).status).toBe(200);
  expect((await rig.messages('paypal')).map(({ eventId }) => eventId)).toEqual(['WH-1AB2']);
});
