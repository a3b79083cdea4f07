/** What verifying may ask of the network: through the same guard as every delivery, little of it, and remembered. */
import type { Clock } from '../clock.ts';
import type { Sender } from '../outbound/index.ts';
import type { VerifyPorts } from './providers/index.ts';

const TIMEOUTS = { connectTimeoutMs: 3000, totalTimeoutMs: 5000 };
/** Providers change certificates by changing the URL. */
const FRESH_MS = 60 * 60 * 1000;
/** A certificate that cannot be had is not asked for again with every request of a stranger. */
const PAUSE_AFTER_FAILURE_MS = 5000;
const MOST_KEPT = 100;

interface Kept {
  readonly text: Promise<string>;
  until: number;
}

/** How the certificates that PayPal and AWS sign with are had and whom they are believed. */
export interface CertificateOptions {
  /** Gets the PEM text at a URL whose host was checked: for networks that reach the outside by a proxy. */
  readonly fetch?: (url: string) => Promise<string>;
  /** PEM certificates of the authorities that PayPal's chain may end in; Node's own list without it. */
  readonly trustedRoots?: readonly string[];
}

export function createVerifyPorts(
  sender: Pick<Sender, 'send'>,
  clock: Clock,
  { fetch, trustedRoots }: CertificateOptions = {},
): Omit<VerifyPorts, 'now'> {
  const certificates = new Map<string, Kept>();

  async function get(url: string): Promise<string> {
    const outcome = await sender.send({
      url,
      method: 'GET',
      headers: ['accept', '*/*'],
      body: new Uint8Array(),
      ...TIMEOUTS,
      // A host was checked, and a redirect would leave it.
      redirects: 'failure',
    });
    if (outcome.kind === 'failure') throw new Error(`${outcome.error}: ${outcome.message}`);
    if (outcome.status !== 200) throw new Error(`it answered ${outcome.status}`);
    if (outcome.bodyTruncated) throw new Error('it answered with more than a certificate has');
    return outcome.body;
  }

  return {
    fetchCertificate(url) {
      const known = certificates.get(url);
      if (known !== undefined && known.until > clock.now()) return known.text;
      if (certificates.size >= MOST_KEPT) certificates.clear();
      const kept: Kept = { text: (fetch ?? get)(url), until: clock.now() + FRESH_MS };
      kept.text.catch(() => {
        kept.until = clock.now() + PAUSE_AFTER_FAILURE_MS;
      });
      certificates.set(url, kept);
      return kept.text;
    },
    async confirmSubscription(url) {
      await get(url);
    },
    ...(trustedRoots === undefined ? {} : { trustedRoots }),
  };
}
