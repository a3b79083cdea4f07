/** X.509 certificates made for one test run by node:crypto alone: no program to install, no private key in the repository. */
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

export interface Issued {
  readonly key: KeyObject;
  readonly keyPem: string;
  readonly pem: string;
  readonly commonName: string;
}

export interface CertificateFields {
  readonly commonName: string;
  readonly kind: 'rsa' | 'ec';
  /** Who signs it; itself without one. */
  readonly by?: Issued;
  /** From now; a negative number has expired. */
  readonly days: number;
  readonly isAuthority: boolean;
  /** Host names and IPv4 addresses that it is for. */
  readonly hosts?: readonly string[];
}

const DAY_MS = 86_400_000;
const OID = {
  commonName: '550403',
  basicConstraints: '551d13',
  subjectAltName: '551d11',
  rsaWithSha256: '2a864886f70d01010b',
  ecdsaWithSha256: '2a8648ce3d040302',
};

export function issueCertificate({ commonName, kind, by, days, isAuthority, hosts = [] }: CertificateFields): Issued {
  const { privateKey: key } =
    kind === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const signer = by?.key ?? key;
  const algorithm =
    signer.asymmetricKeyType === 'rsa'
      ? sequence(oid(OID.rsaWithSha256), der(0x05))
      : sequence(oid(OID.ecdsaWithSha256));
  const end = Date.now() + days * DAY_MS;
  const begin = Math.min(Date.now(), end - DAY_MS);
  const extensions = [
    extension(OID.basicConstraints, sequence(...(isAuthority ? [der(0x01, Buffer.of(0xff))] : [])), true),
  ];
  if (hosts.length > 0) extensions.push(extension(OID.subjectAltName, sequence(...hosts.map(altName)), false));
  const content = sequence(
    der(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(0x01), randomBytes(8)])),
    algorithm,
    distinguishedName(by?.commonName ?? commonName),
    sequence(time(begin), time(end)),
    distinguishedName(commonName),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = der(0x03, Buffer.concat([Buffer.of(0), sign('sha256', content, signer)]));
  return {
    key,
    keyPem: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    pem: toPem(sequence(content, algorithm, signature)),
    commonName,
  };
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function integer(bytes: Buffer): Buffer {
  return der(0x02, bytes);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function distinguishedName(commonName: string): Buffer {
  return sequence(der(0x31, sequence(oid(OID.commonName), der(0x0c, Buffer.from(commonName)))));
}

function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return der(0x18, Buffer.from(digits));
}

function extension(id: string, value: Buffer, critical: boolean): Buffer {
  return sequence(oid(id), ...(critical ? [der(0x01, Buffer.of(0xff))] : []), der(0x04, value));
}

function altName(host: string): Buffer {
  return isIP(host) === 4 ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host));
}

function toPem(certificate: Buffer): string {
  const lines = certificate.toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}
