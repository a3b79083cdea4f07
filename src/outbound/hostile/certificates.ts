/** Certificates made for one test run with the openssl program: no private key is kept in the repository. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export function makeCertificates(): Certificates {
  const dir = mkdtempSync(join(tmpdir(), 'posthorn-tls-'));
  const path = (name: string) => join(dir, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
  const read = (name: string): Certificate => ({
    key: readFileSync(path(`${name}.key`), 'utf8'),
    cert: readFileSync(path(`${name}.pem`), 'utf8'),
  });
  const issue = (name: string, altNames: string, days: string): Certificate => {
    openssl('req', ...KEY, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    writeFileSync(path(`${name}.ext`), `subjectAltName=${altNames}`);
    const sign = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', days, '-extfile', `${name}.ext`];
    openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...sign);
    return read(name);
  };
  try {
    openssl('req', '-x509', ...KEY, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=test authority', '-days', '2');
    openssl('req', '-x509', ...KEY, '-keyout', 'self.key', '-out', 'self.pem', '-subj', '/CN=self', '-days', '2');
    const hosts = 'IP:127.0.0.1,DNS:hooks.example.com';
    return {
      ca: readFileSync(path('ca.pem'), 'utf8'),
      good: issue('good', hosts, '2'),
      expired: issue('expired', hosts, '-1'),
      otherHost: issue('other', 'DNS:other.example.com', '2'),
      selfSigned: read('self'),
    };
  } finally {
    rmSync(dir, { recursive: true });
  }
}
