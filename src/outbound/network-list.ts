import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { PosthornError } from '../errors.ts';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/** Networks by CIDR, as an operator writes them; a bare address means that address alone. */
export class NetworkList {
  private readonly networks: readonly Network[];

  constructor(cidrs: readonly string[]) {
    this.networks = cidrs.map(parseNetwork);
  }

  includes(address: Address): boolean {
    return this.networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
  }
}

/** Strict on purpose: ipaddr.js alone would read `10/8` as 0.0.0.10/8 and `010.0.0.0/8` as 8.0.0.0/8. */
function parseNetwork(cidr: string): Network {
  const [, text = '', prefix] = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(cidr.trim()) ?? [];
  const version = isIP(text);
  const longest = version === 4 ? 32 : 128;
  const bits = prefix === undefined ? longest : Number(prefix);
  if (version === 0 || bits > longest) {
    throw new PosthornError(
      'config_invalid',
      `"${cidr}" is not a network that can be allowed. Write CIDR such as 10.0.0.0/8 or fd12:3456::/32, or one address such as 192.168.1.20.`,
    );
  }
  return [ipaddr.parse(text), bits];
}
