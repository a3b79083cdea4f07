import { afterAll, describe, expect, it } from 'vitest';
import { trustChain } from './certificate-chain.ts';
import { paypal } from './paypal.ts';
import type { InboundRequest, VerifyPorts } from './provider.ts';
import { makeAuthority } from './testing/make-chain.ts';

const [authority, stranger] = [makeAuthority(), makeAuthority()];
afterAll(() => {
  authority.close();
  stranger.close();
});

const NAME = 'messageverificationcerts.paypal.com';
const good = authority.issue('good', { commonName: NAME });
const CERT_URL = 'https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-1d93a270';
// Certificates that a test makes later must be valid by then.
const now = Date.now() + 3_600_000;

function signed(privateKey = good.privateKey, certificateUrl = CERT_URL, at = now): InboundRequest {
  const sample = paypal.sample('PAYMENT.CAPTURE.COMPLETED', { now, token: '1AB2' });
  return paypal.sign(sample, { webhookId: 'WH-1', privateKey, certificateUrl }, at);
}

interface Ports extends VerifyPorts {
  readonly fetched: string[];
}

function ports(pem: string | Error = good.pem, roots = [authority.root]): Ports {
  const fetched: string[] = [];
  return {
    now,
    fetched,
    trustedRoots: roots,
    fetchCertificate: async (url) => {
      fetched.push(url);
      if (pem instanceof Error) throw pem;
      return pem;
    },
    confirmSubscription: async () => {},
  };
}

const verify = paypal.prepare({ webhookId: 'WH-1' }).verify;

describe('PAY-10 PayPal', () => {
  it('PAY-10 verifies RSA-SHA256 over id, time, webhook id and CRC-32 with a certificate that leads to a trusted root', async () => {
    const port = ports();
    expect(await verify(signed(), port)).toEqual({ kind: 'verified' });
    expect(port.fetched).toEqual([CERT_URL]);
    const other = paypal.prepare({ webhookId: 'WH-2' });
    expect(await other.verify(signed(), ports())).toMatchObject({ kind: 'refused' });
  });

  it.each([
    'http://api.paypal.com/v1/notifications/certs/CERT-1',
    'https://api.paypal.com.evil.example/v1/notifications/certs/CERT-1',
    'https://evil.example/api.paypal.com/v1/notifications/certs/CERT-1',
    'https://evilpaypal.com/v1/notifications/certs/CERT-1',
    'https://api.paypal.com@evil.example/v1/notifications/certs/CERT-1',
    'https://user:pass@api.paypal.com/v1/notifications/certs/CERT-1',
    'https://api.paypal.com:8443/v1/notifications/certs/CERT-1',
    'https://api.paypal.com/v1/notifications/certs/../../x',
    'https://api.paypal.com/v1/oauth2/redirect?to=https://evil.example',
    'https://api.paypal.com/v1/notifications/certs/CERT-1?x=1',
    'https://api.paypal.com/v1/notifications/certs/CERT-1#x',
    'https://api.paypal.com\\@evil.example/v1/notifications/certs/CERT-1',
    'https:\\\\api.paypal.com/v1/notifications/certs/CERT-1',
    ' https://api.paypal.com/v1/notifications/certs/CERT-1',
    'https://API.PAYPAL.COM/v1/notifications/certs/CERT-1',
    'https://api.paypal.com./v1/notifications/certs/CERT-1',
    'https://www.paypal.com/v1/notifications/certs/CERT-1',
    'https://169.254.169.254/v1/notifications/certs/CERT-1',
    'file:///v1/notifications/certs/CERT-1',
    '//api.paypal.com/v1/notifications/certs/CERT-1',
    `https://api.paypal.com/v1/notifications/certs/${'a'.repeat(600)}`,
    '',
  ])('PAY-10 fetches nothing from %s', async (url) => {
    const port = ports();
    const request = signed();
    const headers = { ...request.headers, 'paypal-cert-url': url };
    expect(await verify({ ...request, headers }, port)).toMatchObject({ kind: 'refused' });
    expect(port.fetched).toEqual([]);
  });

  it.each([
    'https://api.sandbox.paypal.com/v1/notifications/certs/CERT-1',
    'https://api-m.paypal.com/v1/notifications/certs/CERT-1',
    'https://api-m.sandbox.paypal.com/v1/notifications/certs/CERT-1',
  ])('PAY-10 fetches from %s', async (url) => {
    expect(await verify(signed(good.privateKey, url), ports())).toEqual({ kind: 'verified' });
  });

  it('PAY-10 refuses a certificate of another authority, even in the name of PayPal', async () => {
    const forged = stranger.issue('forged', { commonName: NAME });
    expect(await verify(signed(forged.privateKey), ports(forged.pem))).toEqual({
      kind: 'refused',
      reason: 'the certificate does not lead to a trusted root',
    });
    // With the forger's own root in the file, which proves nothing.
    expect(await verify(signed(forged.privateKey), ports(forged.pem + stranger.root))).toMatchObject({
      kind: 'refused',
    });
  });

  it('PAY-10 refuses a certificate that a trusted authority gave to somebody else', async () => {
    for (const commonName of [
      'www.example.com',
      'messageverificationcerts.paypal.com.example.com',
      'xmessageverificationcerts.paypal.com',
    ]) {
      const customer = authority.issue('customer', { commonName });
      expect(await verify(signed(customer.privateKey), ports(customer.pem))).toEqual({
        kind: 'refused',
        reason: 'the certificate is not the one that PayPal signs webhooks with',
      });
    }
  });

  it('PAY-10 refuses a chain through a certificate that is no authority', async () => {
    const fake = authority.issueFromLeaf('fake', NAME);
    expect(await verify(signed(fake.privateKey), ports(fake.pem))).toEqual({
      kind: 'refused',
      reason: 'the certificate does not lead to a trusted root',
    });
  });

  it('PAY-10 refuses an expired certificate, one that is not valid yet, and one that expires while it is cached', async () => {
    const expired = authority.issue('expired', { commonName: NAME, days: -1 });
    const reason = 'a certificate of the chain is not valid at this time';
    expect(await verify(signed(expired.privateKey), ports(expired.pem))).toEqual({ kind: 'refused', reason });
    expect(await verify(signed(), { ...ports(), now: now - 86_400_000 })).toEqual({ kind: 'refused', reason });
    const kept = paypal.prepare({ webhookId: 'WH-1' }).verify;
    expect(await kept(signed(), ports())).toEqual({ kind: 'verified' });
    const later = now + 11 * 86_400_000;
    expect(await kept(signed(good.privateKey, CERT_URL, later), { ...ports(), now: later })).toEqual({
      kind: 'refused',
      reason,
    });
  });

  it.each([{ middle: -1 }, { root: -1 }])(
    'PAY-10 refuses a valid certificate under an expired one: %j',
    async (days) => {
      const former = makeAuthority(days);
      const leaf = former.issue('leaf', { commonName: NAME });
      expect(await verify(signed(leaf.privateKey), ports(leaf.pem, [former.root]))).toEqual({
        kind: 'refused',
        reason: 'a certificate of the chain is not valid at this time',
      });
    },
  );

  it('PAY-10 reads the certificate anew when the port brings another for the same URL', async () => {
    const kept = paypal.prepare({ webhookId: 'WH-1' }).verify;
    const next = authority.issue('next', { commonName: NAME });
    expect(await kept(signed(), ports())).toEqual({ kind: 'verified' });
    expect(await kept(signed(next.privateKey), ports(next.pem))).toEqual({ kind: 'verified' });
    expect(await kept(signed(), ports(next.pem))).toMatchObject({ kind: 'refused' });
  });

  it('asks PayPal to come again when the certificate cannot be fetched', async () => {
    expect(await verify(signed(), ports(new Error('timed out')))).toEqual({
      kind: 'unavailable',
      reason: 'the certificate could not be fetched: timed out',
    });
  });

  it.each([
    '',
    'no certificate',
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
    'x'.repeat(100_000),
    good.pem.repeat(5),
  ])('refuses a file that is not a chain (%#)', async (pem) => {
    expect(await verify(signed(), ports(pem))).toMatchObject({ kind: 'refused' });
  });

  it("ends chains in Node's own roots when it is given none", () => {
    expect(trustChain(good.pem, { now })).toBe('the certificate does not lead to a trusted root');
  });

  it('refuses another algorithm than SHA256withRSA', async () => {
    const request = signed();
    for (const algorithm of ['SHA1withRSA', 'none', 'sha256withrsa']) {
      const headers = { ...request.headers, 'paypal-auth-algo': algorithm };
      expect(await verify({ ...request, headers }, ports())).toMatchObject({ kind: 'refused' });
    }
  });
});
