/** Signing certificates made for one test run with the openssl program: no private key is kept in the repository. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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

const KEY = ['-newkey', 'rsa:2048', '-nodes'];

export function makeAuthority(): Authority {
  const dir = mkdtempSync(join(tmpdir(), 'posthorn-chain-'));
  const path = (name: string) => join(dir, name);
  const read = (name: string) => readFileSync(path(name), 'utf8');
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
  const sign = (name: string, by: string, commonName: string, days: number, ca: boolean): void => {
    openssl('req', ...KEY, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/O=Test/CN=${commonName}`);
    writeFileSync(path(`${name}.ext`), `basicConstraints=critical,CA:${ca ? 'TRUE' : 'FALSE'}`);
    const issuer = ['-CA', `${by}.pem`, '-CAkey', `${by}.key`, '-CAcreateserial', '-extfile', `${name}.ext`];
    openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, '-days', String(days), ...issuer);
  };
  openssl('req', '-x509', ...KEY, '-keyout', 'root.key', '-out', 'root.pem', '-subj', '/CN=test root', '-days', '30');
  sign('middle', 'root', 'test intermediate', 20, true);
  return {
    root: read('root.pem'),
    issue(name, { commonName = name, days = 10 } = {}) {
      sign(name, 'middle', commonName, days, false);
      return { privateKey: read(`${name}.key`), pem: read(`${name}.pem`) + read('middle.pem') };
    },
    issueFromLeaf(name, commonName) {
      sign(`${name}-issuer`, 'middle', 'a customer', 10, false);
      sign(name, `${name}-issuer`, commonName, 10, false);
      return {
        privateKey: read(`${name}.key`),
        pem: read(`${name}.pem`) + read(`${name}-issuer.pem`) + read('middle.pem'),
      };
    },
    close: () => rmSync(dir, { recursive: true }),
  };
}
