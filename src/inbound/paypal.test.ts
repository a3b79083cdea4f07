import { expect, it } from 'vitest';
import { findProvider } from './providers/index.ts';
import { makeAuthority } from './providers/testing/make-chain.ts';
import { createInboundRig } from './testing/inbound-rig.ts';

it('PAY-01 PAY-10 an event of PayPal is verified by its certificate, stored and handled at once; a forged one is not', async () => {
  const authority = makeAuthority();
  const issued = authority.issue('good', { commonName: 'messageverificationcerts.paypal.com' });
  const other = authority.issue('other', { commonName: 'messageverificationcerts.paypal.com' });
  const ports = { trustedRoots: [authority.root], fetchCertificate: () => Promise.resolve(issued.pem) };
  await using rig = await createInboundRig({ ports });
  const seen: string[] = [];
  const source = rig
    .source('paypal', { settings: { webhookId: 'WH-1' } })
    .on('PAYMENT.CAPTURE.COMPLETED', (_, context) => {
      seen.push(context.eventId);
    });
  const paypal = findProvider('paypal');
  const sample = paypal.sample('PAYMENT.CAPTURE.COMPLETED', { now: Date.now(), token: '1AB2' });
  const certificateUrl = 'https://api.paypal.com/v1/notifications/certs/CERT-1';
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
  authority.close();
});
