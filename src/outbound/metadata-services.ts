/**
 * Where clouds hand out credentials to whoever asks from inside. No allow-list opens these, not even 0.0.0.0/0: an
 * operator who allows a network means the services in it, never the keys of the machine.
 */
export const METADATA_NETWORKS: readonly string[] = [
  '169.254.169.0/24', // AWS, Azure, Google, Oracle, OpenStack, DigitalOcean, Hetzner
  '169.254.170.0/24', // AWS container and pod credentials
  '169.254.0.23/32', // Tencent
  '100.100.100.200/32', // Alibaba
  '168.63.129.16/32', // Azure wire server: a public address by its range
  '192.0.0.192/32', // Oracle
  'fd00:ec2::/32', // AWS over IPv6
  'fd20:ce::254/128', // Google over IPv6
];

const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'instance-data',
  'instance-data.ec2.internal',
]);

/** `hostname` as WHATWG URL gives it (lower case); a trailing dot makes no difference to a resolver. */
export function isMetadataName(hostname: string): boolean {
  const name = hostname.replace(/\.+$/, '');
  return METADATA_NAMES.has(name) || name.endsWith('.metadata.google.internal');
}
