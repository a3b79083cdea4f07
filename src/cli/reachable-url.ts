/** An address that works from this machine: nobody can connect to "every interface". */
export function reachableUrl(host: string, port: number | undefined): string {
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
