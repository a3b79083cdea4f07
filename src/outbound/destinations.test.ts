/** What an attacker types as a webhook URL, or makes a name resolve to. For each: nothing is dialled. */
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { post } from './hostile/loopback-sender.ts';
import { ok, onRequest, rawServer, replies } from './hostile/raw-server.ts';
import { createAddressGuard, createSender, type DialOptions, type Sender } from './index.ts';

interface Probe {
  readonly sender: Sender;
  readonly dialled: string[];
  readonly resolved: string[];
}

type Answers = readonly string[] | Error | (() => readonly string[]);

/** `port` is where every dial ends up: on loopback, whatever address was asked for. */
function probe(names: Readonly<Record<string, Answers>> = {}, port = 0, allow: readonly string[] = []): Probe {
  const dialled: string[] = [];
  const resolved: string[] = [];
  const sender = createSender({
    clock: systemClock,
    guard: createAddressGuard({ allow }),
    userAgent: 'Posthorn/test',
    resolve: async (hostname) => {
      resolved.push(hostname);
      const answers = names[hostname] ?? [];
      if (answers instanceof Error) throw answers;
      return (typeof answers === 'function' ? answers() : answers).map((address) => ({ address }));
    },
    connect: ({ address }: DialOptions): Socket => {
      dialled.push(address);
      return connect({ host: '127.0.0.1', port });
    },
  });
  return { sender, dialled, resolved };
}

// biome-ignore format: one line each would hide the groups
const LITERALS: readonly string[] = [
  // loopback in every spelling that a URL parser turns into it
  '127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '127.0.0.1.', '2130706433', '0x7f000001', '0x7f.0.0.1',
  '0x7f.1', '0177.0.0.1', '0177.0.0.01', '017700000001', '0X7F.0X0.0X0.0X1', '127.0x0.0.1', '%31%32%37.0.0.1',
  '１２７.0.0.1', '127。0。0。1', '①②⑦.0.0.1',
  // this host
  '0.0.0.0', '0', '0x0', '00.0.0.0', '0.1.2.3',
  // private, shared and link-local
  '10.0.0.1', '10.255.255.255', '012.0.0.1', '0xa000001', '167772161', '172.16.0.1', '172.31.255.255', '192.168.0.1',
  '192.168.255.255', '0xc0a80001', '3232235521', '100.64.0.1', '100.127.255.255', '169.254.0.1', '169.254.255.255',
  // special purpose
  '192.0.0.1', '192.0.0.170', '192.0.2.1', '192.88.99.1', '198.18.0.1', '198.19.255.255', '198.51.100.1',
  '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255',
  // metadata services
  '169.254.169.254', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376', '169.254.170.2', '169.254.170.23',
  '100.100.100.200', '168.63.129.16', '192.0.0.192', '[fd00:ec2::254]', '[fd00:ec2::23]', '[fd20:ce::254]',
  'metadata.google.internal', 'METADATA.GOOGLE.INTERNAL', 'metadata.google.internal.', 'metadata.goog',
  'instance-data',
  // IPv6
  '[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[::0001]', '[fe80::1]', '[febf::1]', '[fec0::1]', '[fc00::1]', '[fdff::1]',
  '[ff02::1]', '[ff0e::1]', '[100::1]', '[100:0:0:1::1]', '[2001:db8::1]', '[2001:2::1]', '[2001:10::1]',
  '[2001:20::1]', '[2001:30::1]', '[2001:1::1]', '[2001:1ff::1]', '[3fff::1]', '[5f00::1]', '[4000::1]', '[8000::1]',
  '[2620:4f:8000::1]',
  // IPv4 inside IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP
  '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:10.0.0.1]', '[::ffff:169.254.169.254]', '[0:0:0:0:0:ffff:c0a8:1]',
  '[::127.0.0.1]', '[::7f00:1]', '[::ffff:0:127.0.0.1]', '[::ffff:0:7f00:1]', '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a00:1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::7f00:1]', '[64:ff9b:1:7f00:0:100::]',
  '[64:ff9b:1::8.8.8.8]', '[2002:7f00:1::]', '[2002:a00:1::1]', '[2002:a9fe:a9fe::]', '[2001::1]',
  '[2001:0:7f00:1::1]', '[2001:0:808:808:0:0:80ff:fffe]', '[2600:1::5efe:7f00:1]', '[2600:1::200:5efe:a00:1]',
  '[fe80::5efe:808:808]',
];

const NAMES: Readonly<Record<string, Answers>> = {
  localhost: ['127.0.0.1'],
  'localhost.': ['127.0.0.1'],
  'app.localhost': ['::1'],
  'localtest.me': ['127.0.0.1'],
  '127.0.0.1.nip.io': ['127.0.0.1'],
  'private.example.com': ['10.0.0.5'],
  'v6.example.com': ['fd00::5'],
  'mapped.example.com': ['::ffff:192.168.0.1'],
  'nat64.example.com': ['64:ff9b::a00:1'],
  'metadata.example.com': ['169.254.169.254'],
  'mixed.example.com': ['8.8.8.8', '10.0.0.5'],
  'mixed-last.example.com': ['8.8.8.8', '2606:4700::1', '::1'],
  'mixed-first.example.com': ['127.0.0.1', '8.8.8.8'],
  'zone.example.com': ['fe80::1%lo'],
  'garbage.example.com': ['not an address'],
  'decimal.example.com': ['2130706433'],
};

describe('ALL-04 nothing is dialled', () => {
  it('has at least 100 destinations', () => expect(LITERALS.length + Object.keys(NAMES).length).toBeGreaterThan(120));

  it.each(LITERALS)('for the host %s, by http or https', async (host) => {
    const { sender, dialled, resolved } = probe();
    for (const url of [`http://${host}/`, `https://${host}:8443/x?y`, new URL(`http://${host}:80/`)]) {
      await expect(sender.send(post(url))).resolves.toMatchObject({ kind: 'failure', error: 'blocked_address' });
    }
    expect([dialled, resolved]).toEqual([[], []]);
  });

  it.each(Object.keys(NAMES))('for the name %s, because of what it resolves to', async (name) => {
    const { sender, dialled } = probe(NAMES);
    const outcome = await sender.send(post(`http://${name}:8080/`));
    expect(outcome).toMatchObject({ kind: 'failure', error: 'blocked_address' });
    expect(dialled).toEqual([]);
  });

  it('and the failure names the name, the address and the setting', async () => {
    const outcome = await probe(NAMES).sender.send(post('http://mixed.example.com/'));
    const message = expect.stringMatching(/^mixed\.example\.com .*10\.0\.0\.5 .*POSTHORN_ALLOW_NETWORKS/);
    expect(outcome).toMatchObject({ message });
  });

  it.each([
    'ftp://8.8.8.8/',
    'file:///etc/passwd',
    'http://a:b@8.8.8.8/',
    'http://8.8.8.8:0/',
    'http://',
    'nonsense',
    '',
  ])('for the URL %j', async (url) => {
    const { sender, dialled } = probe();
    await expect(sender.send(post(url))).resolves.toMatchObject({ kind: 'failure', error: 'blocked_address' });
    expect(dialled).toEqual([]);
  });

  it('for a name without an address, or one that does not resolve: that is dns', async () => {
    const notFound = Object.assign(new Error('getaddrinfo ENOTFOUND gone.example.com'), { code: 'ENOTFOUND' });
    const { sender, dialled } = probe({ 'empty.example.com': [], 'gone.example.com': notFound });
    await expect(sender.send(post('http://empty.example.com/'))).resolves.toMatchObject({
      error: 'dns',
      message: 'empty.example.com cannot be resolved: it has no address',
    });
    await expect(sender.send(post('http://gone.example.com/'))).resolves.toMatchObject({
      error: 'dns',
      message: 'gone.example.com cannot be resolved: there is no such name',
    });
    expect(dialled).toEqual([]);
  });

  it('for a name that is rebound to a private address between two connections', async () => {
    await using server = await rawServer(onRequest((socket) => socket.end(ok('ok', 'connection: close\r\n'))));
    const answers = [['8.8.8.8'], ['127.0.0.1']];
    const { sender, dialled } = probe({ 'rebind.example.com': () => answers.shift() ?? ['127.0.0.1'] }, server.port);
    await expect(sender.send(post('http://rebind.example.com/'))).resolves.toMatchObject({ status: 200 });
    await expect(sender.send(post('http://rebind.example.com/'))).resolves.toMatchObject({ error: 'blocked_address' });
    expect(dialled).toEqual(['8.8.8.8']);
    await sender.close();
  });

  it('by name: a name is resolved once per connection and exactly the checked address is dialled', async () => {
    await using server = await rawServer(replies(ok()));
    let asked = 0;
    const { sender, dialled } = probe(
      { 'twice.example.com': () => (asked++ === 0 ? ['8.8.8.8'] : ['127.0.0.1']) },
      server.port,
    );
    await expect(sender.send(post('http://twice.example.com/'))).resolves.toMatchObject({ status: 200 });
    expect([dialled, asked]).toEqual([['8.8.8.8'], 1]);
    expect(server.received()).toContain('\r\nhost: twice.example.com\r\n');
    await sender.close();
  });

  it('when the lookup ends after the connect timeout', async () => {
    let answer: (addresses: readonly { address: string }[]) => void = () => {};
    const slow = new Promise<readonly { address: string }[]>((resolve) => {
      answer = resolve;
    });
    const dialled: string[] = [];
    const sender = createSender({
      clock: systemClock,
      guard: createAddressGuard({ allow: [] }),
      userAgent: 'Posthorn/test',
      resolve: () => slow,
      connect: ({ address }) => {
        dialled.push(address);
        return connect({ host: '127.0.0.1', port: 1 });
      },
    });
    const outcome = await sender.send(post('http://slow.example.com/', { connectTimeoutMs: 50 }));
    expect(outcome).toMatchObject({
      error: 'connect_timeout',
      message: 'the lookup of slow.example.com did not finish within 50 ms',
    });
    answer([{ address: '8.8.8.8' }]);
    await sender.close();
    expect(dialled).toEqual([]);
  });
});

describe('the allow-list in use', () => {
  it('lets a listed IPv6 literal through, with its brackets in Host', async () => {
    await using server = await rawServer(replies(ok()));
    const { sender, dialled } = probe({}, server.port, ['::1']);
    await expect(sender.send(post('http://[0:0::1]:8080/'))).resolves.toMatchObject({ status: 200 });
    expect(dialled).toEqual(['::1']);
    expect(server.received()).toContain('\r\nhost: [::1]:8080\r\n');
    await sender.close();
  });

  it('lets a listed network through, by literal and by name', async () => {
    await using server = await rawServer(replies(ok()));
    const { sender, dialled } = probe({ 'intranet.example.com': ['10.0.0.6'] }, server.port, ['10.0.0.0/8']);
    await expect(sender.send(post('http://10.0.0.5/'))).resolves.toMatchObject({ status: 200 });
    await expect(sender.send(post('http://intranet.example.com/'))).resolves.toMatchObject({ status: 200 });
    await expect(sender.send(post('http://192.168.0.1/'))).resolves.toMatchObject({ error: 'blocked_address' });
    expect(dialled).toEqual(['10.0.0.5', '10.0.0.6']);
    await sender.close();
  });
});
