import { type KeyObject, X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';

/** A chain that ends in a trusted root. The key is good while every certificate of the chain is. */
export interface TrustedChain {
  readonly publicKey: KeyObject;
  readonly commonName: string;
  readonly validFrom: number;
  readonly validUntil: number;
}

export interface ChainOptions {
  readonly now: number;
  readonly trustedRoots?: readonly string[] | undefined;
}

const LONGEST_CHAIN = 8;
const LONGEST_PEM = 65_536;
const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** Reading Node's 144 roots takes tens of milliseconds: once per list, when a chain is first checked. */
const parsedRoots = new WeakMap<readonly string[], readonly X509Certificate[]>();

/**
 * Follows the certificates of a PEM file from the first one to a root, or says what is wrong with them. Checks signatures,
 * issuers, CA flags and dates; not revocation, name constraints or path lengths.
 */
export function trustChain(pem: string, { now, trustedRoots = rootCertificates }: ChainOptions): TrustedChain | string {
  const certificates = readPem(pem);
  if (typeof certificates === 'string') return certificates;
  const roots = rootsOf(trustedRoots);
  const [leaf, ...others] = certificates;
  if (leaf === undefined) return 'the file holds no certificate';

  const chain = [leaf];
  let last = leaf;
  while (chain.length <= LONGEST_CHAIN) {
    const isRoot = roots.some(({ fingerprint256 }) => fingerprint256 === last.fingerprint256);
    const root = isRoot ? last : roots.find((candidate) => issued(candidate, last));
    if (root !== undefined) return withinDates(leaf, [...chain, root], now);
    const issuer = others.find((candidate) => !chain.includes(candidate) && issued(candidate, last));
    if (issuer === undefined) return 'the certificate does not lead to a trusted root';
    chain.push(issuer);
    last = issuer;
  }
  return 'the certificate chain is too long';
}

/** One certificate on its own, for a provider that publishes no chain: its dates are all that can be checked. */
export function readCertificate(pem: string, now: number): TrustedChain | string {
  const certificates = readPem(pem);
  if (typeof certificates === 'string') return certificates;
  const [leaf] = certificates;
  return leaf === undefined ? 'the file holds no certificate' : withinDates(leaf, [leaf], now);
}

function withinDates(leaf: X509Certificate, chain: readonly X509Certificate[], now: number): TrustedChain | string {
  const validFrom = Math.max(...chain.map((each) => Date.parse(each.validFrom)));
  const validUntil = Math.min(...chain.map((each) => Date.parse(each.validTo)));
  // Written so that a NaN refuses.
  if (!(now >= validFrom && now <= validUntil)) return 'a certificate of the chain is not valid at this time';
  return { publicKey: leaf.publicKey, commonName: commonName(leaf), validFrom, validUntil };
}

function issued(issuer: X509Certificate, subject: X509Certificate): boolean {
  return issuer.ca && subject.checkIssued(issuer) && subject.verify(issuer.publicKey);
}

function commonName(certificate: X509Certificate): string {
  const line = certificate.subject.split('\n').find((part) => part.startsWith('CN='));
  return line?.slice('CN='.length) ?? '';
}

function readPem(pem: string): readonly X509Certificate[] | string {
  if (pem.length > LONGEST_PEM) return 'the certificate file is too large';
  const blocks = pem.match(PEM_BLOCK) ?? [];
  if (blocks.length > LONGEST_CHAIN) return 'the certificate chain is too long';
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    return 'the certificate cannot be read';
  }
}

function rootsOf(pems: readonly string[]): readonly X509Certificate[] {
  let roots = parsedRoots.get(pems);
  if (roots === undefined) {
    roots = pems.map((pem) => new X509Certificate(pem));
    parsedRoots.set(pems, roots);
  }
  return roots;
}
