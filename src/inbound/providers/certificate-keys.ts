import { describeError } from '../../errors.ts';
import type { TrustedChain } from './certificate-chain.ts';
import type { Verdict, VerifyPorts } from './provider.ts';
import { refused, unavailable } from './verdict.ts';

/** Providers use one certificate at a time; this many survive a change of it. */
const KEPT = 8;

export type FoundKey = { readonly chain: TrustedChain } | { readonly verdict: Verdict };

/**
 * The checked certificates of one source. The port caches the text; this spares reading it and checking its chain again
 * for each request. A certificate leaves when it expires or when the port brings another text for its URL.
 */
export function certificateKeys(check: (pem: string, ports: VerifyPorts) => TrustedChain | string) {
  const kept = new Map<string, { readonly pem: string; readonly chain: TrustedChain }>();

  return async (url: string, ports: VerifyPorts): Promise<FoundKey> => {
    let pem: string;
    try {
      pem = await ports.fetchCertificate(url);
    } catch (error) {
      return { verdict: unavailable(`the certificate could not be fetched: ${describeError(error)}`) };
    }
    const known = kept.get(url);
    if (known?.pem === pem && ports.now >= known.chain.validFrom && ports.now <= known.chain.validUntil) return known;
    const chain = check(pem, ports);
    if (typeof chain === 'string') return { verdict: refused(chain) };
    ports.trustCertificate?.(url);
    const [oldest] = kept.keys();
    if (kept.size >= KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(url, { pem, chain });
    return { chain };
  };
}
