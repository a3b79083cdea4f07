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
/** Strangers name URLs before anything is verified: they must not make us a source of many requests to others. */
const MOST_AT_ONCE = 8;
/** So many in a burst, and then one at a time: whoever names many leaves a place for the next honest one within a moment. */
const BURST = 30;
const ONE_MORE_EVERY_MS = 500;

interface Kept {
  readonly text: Promise<string>;
  until: number;
  worth: 'unknown' | 'failed' | 'trusted';
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
): VerifyPorts {
  const certificates = new Map<string, Kept>();
  let left = BURST;
  let leftAt = clock.now();
  let underWay = 0;

  function mayFetch(): boolean {
    const now = clock.now();
    left = Math.min(BURST, left + Math.max(0, now - leftAt) / ONE_MORE_EVERY_MS);
    leftAt = now;
    if (underWay >= MOST_AT_ONCE || left < 1) return false;
    left -= 1;
    return true;
  }

  async function counted(url: string): Promise<string> {
    underWay += 1;
    try {
      return await (fetch ?? get)(url);
    } finally {
      underWay -= 1;
    }
  }

  /** What failed goes first, then the oldest that verified nothing; one that did only where there is nothing else. */
  function makeRoom(): void {
    if (certificates.size < MOST_KEPT) return;
    const all = [...certificates];
    const oldest = (worth: Kept['worth']) => all.find(([, kept]) => kept.worth === worth);
    const [url = ''] = oldest('failed') ?? oldest('unknown') ?? oldest('trusted') ?? [];
    certificates.delete(url);
  }

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
    get now() {
      return clock.now();
    },
    fetchCertificate(url) {
      const known = certificates.get(url);
      if (known !== undefined && known.until > clock.now()) return known.text;
      if (known?.worth !== 'trusted' && !mayFetch()) {
        return Promise.reject(new Error('too many certificates were asked for in a short time'));
      }
      makeRoom();
      const kept: Kept = {
        text: counted(url),
        until: clock.now() + FRESH_MS,
        worth: known?.worth === 'trusted' ? 'trusted' : 'unknown',
      };
      kept.text.catch(() => {
        if (kept.worth === 'unknown') kept.worth = 'failed';
        kept.until = clock.now() + PAUSE_AFTER_FAILURE_MS;
      });
      certificates.set(url, kept);
      return kept.text;
    },
    trustCertificate(url) {
      const kept = certificates.get(url);
      if (kept !== undefined) kept.worth = 'trusted';
    },
    async confirmSubscription(url) {
      await get(url);
    },
    ...(trustedRoots === undefined ? {} : { trustedRoots }),
  };
}
