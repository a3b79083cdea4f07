import type { Parsed } from './parsers.ts';

export interface RedisLocation {
  readonly tls: boolean;
  readonly username?: string;
  readonly password?: string;
  /** One server, or the nodes of a cluster by which the others are found. */
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly database: number;
  readonly cluster: boolean;
}

const SHAPE = /^(rediss?):\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/(\d*))?(\?cluster)?$/i;
const NODE = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)(?::(\d{1,5}))?$/;
const EXAMPLES =
  'must be redis://[user:password@]host[:port][/database] (rediss:// with TLS), or for a cluster redis://host:port,host:port or redis://host:port?cluster';

/**
 * Where Redis is. Several hosts, or `?cluster` after one, mean a Redis Cluster; the credentials before the first host are
 * everybody's. A refusal never repeats the text: it may hold a password.
 */
export function parseRedisUrl(url: string): Parsed<RedisLocation> {
  const [, scheme = '', userInfo, hosts = '', database = '', clusterMark] = SHAPE.exec(url) ?? [];
  if (scheme === '') return { refused: EXAMPLES };
  const nodes = hosts.split(',').map(toNode);
  if (nodes.some((node) => node === undefined)) return { refused: EXAMPLES };
  const credentials = toCredentials(userInfo);
  if (credentials === undefined) {
    return { refused: 'has a user or a password with a stray %: write what is not a letter or digit as %XX' };
  }
  const cluster = nodes.length > 1 || clusterMark !== undefined;
  if (cluster && Number(database) > 0) return { refused: 'names a database, and a Redis Cluster has none but 0' };
  return {
    value: {
      tls: scheme.toLowerCase() === 'rediss',
      ...credentials,
      nodes: nodes as RedisLocation['nodes'],
      database: Number(database),
      cluster,
    },
  };
}

function toNode(text: string): RedisLocation['nodes'][number] | undefined {
  const [, host, , port = '6379'] = NODE.exec(text.trim()) ?? [];
  if (host === undefined || Number(port) > 65_535) return undefined;
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

function toCredentials(userInfo: string | undefined): Pick<RedisLocation, 'username' | 'password'> | undefined {
  if (userInfo === undefined || userInfo === '') return {};
  const [username = '', ...rest] = userInfo.split(':');
  try {
    return {
      ...(username === '' ? {} : { username: decodeURIComponent(username) }),
      ...(rest.length === 0 ? {} : { password: decodeURIComponent(rest.join(':')) }),
    };
  } catch {
    return undefined;
  }
}
