/** Signing certificates made for one test run: no private key is kept in the repository. */
import { issueCertificate } from '../../../testing/issue-certificate.ts';

export interface Signer {
  readonly privateKey: string;
  /** The certificate, then those that lead to the root. */
  readonly pem: string;
}

export interface Authority {
  readonly root: string;
  /** `days` from now; a negative number has expired. */
  issue(name: string, options?: { commonName?: string; days?: number }): Signer;
  /** What a certificate that is no authority has signed. */
  issueFromLeaf(name: string, commonName: string): Signer;
  close(): void;
}

/** From now: for how long its own certificates are valid. */
export interface AuthorityDays {
  readonly root?: number;
  readonly middle?: number;
}

export function makeAuthority({ root: rootDays = 30, middle: middleDays = 20 }: AuthorityDays = {}): Authority {
  const kind = 'rsa';
  const root = issueCertificate({ kind, commonName: 'test root', days: rootDays, isAuthority: true });
  const middle = issueCertificate({
    kind,
    commonName: 'test intermediate',
    by: root,
    days: middleDays,
    isAuthority: true,
  });
  return {
    root: root.pem,
    issue(name, { commonName = name, days = 10 } = {}) {
      const { keyPem, pem } = issueCertificate({ kind, commonName, by: middle, days, isAuthority: false });
      return { privateKey: keyPem, pem: pem + middle.pem };
    },
    issueFromLeaf(_name, commonName) {
      const leaf = issueCertificate({ kind, commonName: 'a customer', by: middle, days: 10, isAuthority: false });
      const { keyPem, pem } = issueCertificate({ kind, commonName, by: leaf, days: 10, isAuthority: false });
      return { privateKey: keyPem, pem: pem + leaf.pem + middle.pem };
    },
    close() {},
  };
}
