/** The places where a provider keeps its certificates. */
export interface CertificatePlace {
  readonly host: RegExp;
  readonly path: RegExp;
}

const LONGEST_URL = 512;

/**
 * Whether a URL that a stranger sent may be fetched: https, the standard port, one of the provider's hosts and paths, and
 * written the way URLs are written, so that no parser after this one can read another host in it.
 */
export function isAllowedUrl(text: string, place: CertificatePlace): boolean {
  if (text.length > LONGEST_URL || !URL.canParse(text)) return false;
  const url = new URL(text);
  return (
    url.href === text &&
    url.protocol === 'https:' &&
    url.port === '' &&
    url.username === '' &&
    url.password === '' &&
    url.hash === '' &&
    place.host.test(url.hostname) &&
    place.path.test(url.pathname + url.search)
  );
}
