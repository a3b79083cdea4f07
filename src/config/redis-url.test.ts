import { describe, expect, it } from 'vitest';
import { parseRedisUrl } from './redis-url.ts';

const PLAIN = { tls: false, database: 0, cluster: false };

describe('parseRedisUrl', () => {
  it.each([
    ['redis://127.0.0.1', { ...PLAIN, nodes: [{ host: '127.0.0.1', port: 6379 }] }],
    ['redis://redis:6380/3', { ...PLAIN, database: 3, nodes: [{ host: 'redis', port: 6380 }] }],
    ['redis://[::1]:6379/', { ...PLAIN, nodes: [{ host: '::1', port: 6379 }] }],
    ['redis://:p%40ss@h', { ...PLAIN, password: 'p@ss', nodes: [{ host: 'h', port: 6379 }] }],
    ['redis://me:p:w@h:1', { ...PLAIN, username: 'me', password: 'p:w', nodes: [{ host: 'h', port: 1 }] }],
    ['rediss://h', { ...PLAIN, tls: true, nodes: [{ host: 'h', port: 6379 }] }],
    ['redis://h:7000?cluster', { ...PLAIN, cluster: true, nodes: [{ host: 'h', port: 7000 }] }],
    [
      'redis://:pw@a:7000,b:7001',
      {
        ...PLAIN,
        cluster: true,
        password: 'pw',
        nodes: [
          { host: 'a', port: 7000 },
          { host: 'b', port: 7001 },
        ],
      },
    ],
  ])('%s', (url, location) => {
    expect(parseRedisUrl(url)).toEqual({ value: location });
  });

  it.each(['', 'h:6379', 'http://h', 'redis://', 'redis://h:99999', 'redis://a,,b', 'redis://h?db=2', 'redis://a b'])(
    '%j is refused',
    (url) => {
      expect(parseRedisUrl(url)).toHaveProperty('refused');
    },
  );

  it('a cluster has no databases', () => {
    expect(parseRedisUrl('redis://a:1,b:2/1')).toMatchObject({ refused: expect.stringContaining('database') });
  });

  it('no refusal repeats a password', () => {
    for (const url of ['redis://:hunter2@h:x', 'redis://:hunter2%@h', 'http://:hunter2@h', 'redis://:hunter2@a,b/1']) {
      const parsed = parseRedisUrl(url);
      expect(parsed).toHaveProperty('refused');
      expect(JSON.stringify(parsed)).not.toContain('hunter2');
    }
  });
});
