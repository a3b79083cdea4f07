/**
 * Which destinations may be dialled (ALL-04). `checkUrl` judges what a URL says and is for the moment an endpoint is
 * created as well as for every redirect; `checkAddress` judges the address that is about to be dialled. Both fail
 * closed: what is not known to be public unicast is refused.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { embeddedIPv4 } from './embedded-ipv4.ts';
import { isMetadataName, METADATA_NETWORKS } from './metadata-services.ts';
import { type Address, NetworkList } from './network-list.ts';

export interface AddressGuardOptions {
  /** CIDRs that may be reached although they are not public. */
  readonly allow: readonly string[];
}

export type UrlVerdict =
  | { readonly ok: true; readonly url: URL }
  /** `invalid_url`: not a URL that a webhook can go to. `blocked_address`: it names a place that is out of bounds. */
  | { readonly ok: false; readonly problem: 'invalid_url' | 'blocked_address'; readonly reason: string };

export type AddressVerdict = { readonly ok: true } | { readonly ok: false; readonly reason: string };

export interface AddressGuard {
  checkUrl(url: string | URL): UrlVerdict;
  checkAddress(ip: string): AddressVerdict;
}

const OK: AddressVerdict = { ok: true };
/** All that IANA has handed out as public IPv6 so far; the rest is reserved. */
const GLOBAL_UNICAST_V6 = new NetworkList(['2000::/3']);
const LOOPBACK = ['127.0.0.1', '::1'];
const METADATA = new NetworkList(METADATA_NETWORKS);

const RANGE_NAMES: Readonly<Record<string, string>> = {
  loopback: 'a loopback address',
  private: 'in a private network',
  linkLocal: 'a link-local address',
  uniqueLocal: 'in a private network (unique local)',
  carrierGradeNat: 'in a carrier-grade NAT network',
  unspecified: 'an unspecified address',
  multicast: 'a multicast address',
  broadcast: 'the broadcast address',
};

export function createAddressGuard(options: AddressGuardOptions): AddressGuard {
  const allowed = new NetworkList(options.allow);

  function checkAddress(ip: string): AddressVerdict {
    if (isIP(ip) === 0) return { ok: false, reason: `"${ip}" is not an IP address` };
    const address = ipaddr.parse(ip);
    const embedded = address instanceof ipaddr.IPv6 ? embeddedIPv4(address) : undefined;
    const inner = embedded?.addresses ?? [];

    if ([address, ...inner].some((each) => METADATA.includes(each))) {
      return { ok: false, reason: `${ip} is a cloud metadata address, which no setting allows` };
    }
    if (allowed.includes(address)) return OK;
    if (inner.length > 0 && inner.every((each) => allowed.includes(each))) return OK;

    const judged = embedded?.transparent ? inner : [address, ...inner];
    const flaw = judged.map(whyNotPublic).find((reason) => reason !== undefined);
    if (flaw === undefined) return OK;
    return {
      ok: false,
      reason: `${ip} is ${flaw}; list its network in POSTHORN_ALLOW_NETWORKS (in code: allowNetworks) to let it through`,
    };
  }

  function checkUrl(input: string | URL): UrlVerdict {
    const url = typeof input === 'string' ? parseUrl(input) : input;
    if (url === undefined) return invalidUrl('it is not a URL');
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      return invalidUrl('it must start with http:// or https://');
    if (url.username !== '' || url.password !== '') return invalidUrl('it must not carry a user name or password');
    if (url.hostname === '') return invalidUrl('it has no host');
    if (url.port === '0') return invalidUrl('port 0 cannot be connected to');

    const host = bareHostname(url);
    if (isMetadataName(host)) {
      return {
        ok: false,
        problem: 'blocked_address',
        reason: `${host} is a cloud metadata service, which no setting allows`,
      };
    }
    // Such a name is this machine everywhere (RFC 6761): who typed it should hear so now, not at the first delivery.
    if (isLoopbackName(host) && !LOOPBACK.some((ip) => checkAddress(ip).ok)) {
      return {
        ok: false,
        problem: 'blocked_address',
        reason: `${host} is a loopback name; list 127.0.0.0/8 in POSTHORN_ALLOW_NETWORKS (in code: allowNetworks) to let it through`,
      };
    }
    if (isIP(host) !== 0) {
      const verdict = checkAddress(host);
      if (!verdict.ok) return { ok: false, problem: 'blocked_address', reason: verdict.reason };
    }
    return { ok: true, url };
  }

  return { checkUrl, checkAddress };
}

/** The host as a name or an IP literal without brackets. WHATWG has already turned 0x7f.1 and 2130706433 into dotted form. */
export function bareHostname(url: URL): string {
  const { hostname } = url;
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

function isLoopbackName(host: string): boolean {
  return /(?:^|\.)localhost\.?$/i.test(host);
}

function whyNotPublic(address: Address): string | undefined {
  const range = address.range();
  if (range !== 'unicast') return RANGE_NAMES[range] ?? `in a special-purpose range (${range})`;
  if (address.kind() === 'ipv6' && !GLOBAL_UNICAST_V6.includes(address)) return 'outside of public IPv6';
  return undefined;
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function invalidUrl(reason: string): UrlVerdict {
  return { ok: false, problem: 'invalid_url', reason };
}
