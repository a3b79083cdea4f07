/** Certificates made for one test run: no private key is kept in the repository. */
import { issueCertificate } from '../../testing/issue-certificate.ts';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface Certificates {
  readonly ca: string;
  readonly good: Certificate;
  readonly expired: Certificate;
  readonly otherHost: Certificate;
  readonly selfSigned: Certificate;
}

export function makeCertificates(): Certificates {
  const ca = issueCertificate({ kind: 'ec', commonName: 'test authority', days: 2, isAuthority: true });
  const issue = (commonName: string, hosts: readonly string[], days: number): Certificate => {
    const { keyPem, pem } = issueCertificate({ kind: 'ec', commonName, by: ca, days, isAuthority: false, hosts });
    return { key: keyPem, cert: pem };
  };
  const self = issueCertificate({ kind: 'ec', commonName: 'self', days: 2, isAuthority: true });
  const hosts = ['127.0.0.1', 'hooks.example.com'];
  return {
    ca: ca.pem,
    good: issue('good', hosts, 2),
    expired: issue('expired', hosts, -1),
    otherHost: issue('other', ['other.example.com'], 2),
    selfSigned: { key: self.keyPem, cert: self.pem },
  };
}
