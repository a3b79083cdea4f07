/**
 * The IPv4 addresses inside an IPv6 address. A guard that looks at the IPv6 range alone can be walked around:
 * `::ffff:127.0.0.1` is loopback, and a translator or tunnel on the way turns the other forms into IPv4 as well.
 */
import ipaddr from 'ipaddr.js';

export interface EmbeddedIPv4 {
  readonly addresses: readonly ipaddr.IPv4[];
  /**
   * The address is nothing but another spelling of the IPv4 one (mapped, SIIT, the well-known NAT64 prefix), so the
   * IPv4 one alone decides. Tunnels (6to4, Teredo, …) are not: they are refused themselves, whatever they carry.
   */
  readonly transparent: boolean;
}

const NONE: EmbeddedIPv4 = { addresses: [], transparent: false };

export function embeddedIPv4(address: ipaddr.IPv6): EmbeddedIPv4 {
  const bytes = address.toByteArray();
  const at = (...offsets: [number, number, number, number]) => new ipaddr.IPv4(offsets.map((i) => bytes[i] ?? 0));
  const last = () => at(12, 13, 14, 15);
  const words = address.parts;
  const startsWith = (...prefix: number[]) => prefix.every((word, i) => words[i] === word);

  if (startsWith(0, 0, 0, 0, 0, 0xffff)) return { addresses: [last()], transparent: true };
  if (startsWith(0, 0, 0, 0, 0xffff, 0)) return { addresses: [last()], transparent: true };
  if (startsWith(0x64, 0xff9b, 0, 0, 0, 0)) return { addresses: [last()], transparent: true };
  if (startsWith(0, 0, 0, 0, 0, 0)) return { addresses: [last()], transparent: false };
  // RFC 8215: the operator's own NAT64. The prefix may be /48, /56, /64 or /96 long (RFC 6052, 2.2); byte 8 is skipped.
  if (startsWith(0x64, 0xff9b, 1)) {
    return { addresses: [at(6, 7, 9, 10), at(7, 9, 10, 11), at(9, 10, 11, 12), last()], transparent: false };
  }
  if (startsWith(0x2002)) return { addresses: [at(2, 3, 4, 5)], transparent: false };
  if (startsWith(0x2001, 0)) {
    const client = new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff));
    return { addresses: [at(4, 5, 6, 7), client], transparent: false };
  }
  // ISATAP: an interface id of [02]00:5efe and the IPv4 address, under any prefix.
  if ((words[4] === 0 || words[4] === 0x200) && words[5] === 0x5efe) return { addresses: [last()], transparent: false };
  return NONE;
}
