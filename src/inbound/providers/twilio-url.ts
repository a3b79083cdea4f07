/**
 * Twilio signs the URL sometimes with its standard port and sometimes without, and its libraries accept both. The text is
 * cut by hand: `new URL()` would write other characters than those that were signed.
 */
export function portVariants(url: string): readonly string[] {
  const match = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)(.*)$/is.exec(url);
  if (match === null) return [url];
  const [, scheme = '', authority = '', rest = ''] = match;
  const portAt = /:\d*$/.exec(authority)?.index ?? authority.length;
  const host = authority.slice(0, portAt);
  const port = authority.slice(portAt) || (scheme.toLowerCase() === 'https://' ? ':443' : ':80');
  return [scheme + host + rest, scheme + host + port + rest];
}
