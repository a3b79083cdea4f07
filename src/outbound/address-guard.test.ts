import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPosthornError } from '../errors.ts';
import { createAddressGuard } from './index.ts';

const guard = createAddressGuard({ allow: [] });
const octet = fc.integer({ min: 0, max: 255 });

describe('checkAddress', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '223.255.255.255',
    '198.17.255.255',
  ])('ALL-04 public %s passes', (ip) => expect(guard.checkAddress(ip)).toEqual({ ok: true }));

  it.each(['2606:4700:4700::1111', '2a00:1450:4001::1', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '::ffff:0:8.8.8.8'])(
    'ALL-04 public %s passes',
    (ip) => expect(guard.checkAddress(ip)).toEqual({ ok: true }),
  );

  it('a refusal names the address, what it is and the setting that would let it through', () => {
    expect(guard.checkAddress('10.1.2.3')).toEqual({
      ok: false,
      reason:
        '10.1.2.3 is in a private network; list its network in POSTHORN_ALLOW_NETWORKS (in code: allowNetworks) to let it through',
    });
  });

  it.each(['', 'localhost', '127.1', '0x7f000001', '010.0.0.1', '1.2.3.4/8', '1.2.3.4 ', '8.8.8.8%eth0', '[::1]'])(
    'ALL-04 %j is not an address and is refused',
    (text) => expect(guard.checkAddress(text).ok).toBe(false),
  );

  it('ALL-04 no embedding of a refused IPv4 address in IPv6 passes', () => {
    const hex = (a: number, b: number) => ((a << 8) | b).toString(16);
    const spellings = (a: number, b: number, c: number, d: number) => [
      `::ffff:${a}.${b}.${c}.${d}`,
      `::${a}.${b}.${c}.${d}`,
      `::ffff:0:${hex(a, b)}:${hex(c, d)}`,
      `64:ff9b::${hex(a, b)}:${hex(c, d)}`,
      `64:ff9b:1::${hex(a, b)}:${hex(c, d)}`,
      `64:ff9b:1:${hex(a, b)}:${c.toString(16)}:${hex(d, 0)}::`,
      `2002:${hex(a, b)}:${hex(c, d)}::1`,
      `2001:0:${hex(a, b)}:${hex(c, d)}::1`,
      `2001:0:808:808:0:0:${hex(a ^ 255, b ^ 255)}:${hex(c ^ 255, d ^ 255)}`,
      `2600:1:2:3:0:5efe:${hex(a, b)}:${hex(c, d)}`,
      `2600:1:2:3:200:5efe:${hex(a, b)}:${hex(c, d)}`,
    ];
    fc.assert(
      fc.property(fc.constantFrom(10, 127, 0, 224, 255), octet, octet, octet, (a, b, c, d) => {
        for (const spelling of spellings(a, b, c, d)) {
          expect(guard.checkAddress(spelling).ok, spelling).toBe(false);
        }
      }),
    );
  });
});

describe('the allow-list', () => {
  const office = createAddressGuard({ allow: ['10.0.0.0/8', '192.168.1.20', 'fd12:3456::/32'] });

  it.each(['10.1.2.3', '192.168.1.20', 'fd12:3456::1', '::ffff:10.1.2.3', '64:ff9b::a01:203', '2002:a01:203::1'])(
    'lets %s through',
    (ip) => expect(office.checkAddress(ip)).toEqual({ ok: true }),
  );

  it.each(['192.168.1.21', 'fd12:3457::1', '127.0.0.1', '::1', '::ffff:127.0.0.1'])('does not let %s through', (ip) =>
    expect(office.checkAddress(ip).ok).toBe(false),
  );

  it.each([
    '169.254.169.254',
    '169.254.170.2',
    '169.254.170.23',
    '169.254.0.23',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
    '::ffff:169.254.169.254',
    '::169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '64:ff9b:1:a9fe:a9:fe00::',
    '2002:a9fe:a9fe::1',
    '2001:0:a9fe:a9fe::1',
    '2600:1::5efe:a9fe:a9fe',
  ])('ALL-04 never opens the metadata address %s, not even for everything', (ip) => {
    const open = createAddressGuard({ allow: ['0.0.0.0/0', '::/0', ip] });
    const verdict = open.checkAddress(ip);
    expect(verdict).toMatchObject({ ok: false, reason: expect.stringContaining('no setting allows') });
  });

  it.each(['metadata.google.internal', 'METADATA.google.internal.', 'metadata.goog', 'metadata', 'instance-data'])(
    'ALL-04 never opens the metadata name %s',
    (name) => {
      const open = createAddressGuard({ allow: ['0.0.0.0/0', '::/0'] });
      expect(open.checkUrl(`http://${name}/computeMetadata/v1/`).ok).toBe(false);
    },
  );

  it.each([
    '10/8',
    '010.0.0.0/8',
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0.0/',
    '10.0.0.0/-1',
    'localhost',
    '',
    '*',
    '10.0.0.0/8,::1',
  ])('refuses %j with an error that names it and what is allowed', (cidr) => {
    const make = () => createAddressGuard({ allow: [cidr] });
    expect(make).toThrowError(/CIDR such as 10\.0\.0\.0\/8/);
    try {
      make();
    } catch (error) {
      expect(isPosthornError(error, 'config_invalid')).toBe(true);
      expect(String(error)).toContain(`"${cidr}"`);
    }
  });
});

describe('checkUrl', () => {
  it.each([
    'https://example.com/hook?a=1#f',
    'http://example.com:8080',
    'https://8.8.8.8/',
    'http://xn--bcher-kva.example/',
    'http://localhost.example.com/',
    'http://notlocalhost/',
  ])('%s passes (names are judged when they are resolved)', (url) =>
    expect(guard.checkUrl(url)).toMatchObject({ ok: true }),
  );

  it.each([
    ['', 'it is not a URL'],
    ['example.com/hook', 'it is not a URL'],
    ['http://', 'it is not a URL'],
    ['http://exa mple.com/', 'it is not a URL'],
    ['http://1.2.3.256/', 'it is not a URL'],
    ['ftp://example.com/', 'it must start with http:// or https://'],
    ['file:///etc/passwd', 'it must start with http:// or https://'],
    ['gopher://127.0.0.1:6379/_FLUSHALL', 'it must start with http:// or https://'],
    ['javascript:alert(1)', 'it must start with http:// or https://'],
    ['ws://example.com/', 'it must start with http:// or https://'],
    ['http://user@example.com/', 'it must not carry a user name or password'],
    ['http://:secret@example.com/', 'it must not carry a user name or password'],
    ['http://example.com@127.0.0.1/', 'it must not carry a user name or password'],
    ['http://example.com:0/', 'port 0 cannot be connected to'],
  ])('%j is refused: %s', (url, reason) => {
    expect(guard.checkUrl(url)).toEqual({ ok: false, problem: 'invalid_url', reason });
  });

  it.each(['localhost', 'LOCALHOST', 'localhost.', 'app.localhost', 'a.b.localhost.'])(
    'ALL-04 the loopback name %s is refused before anything is resolved, unless loopback is allowed',
    (name) => {
      const url = `http://${name}:3000/x`;
      expect(guard.checkUrl(url)).toMatchObject({
        ok: false,
        problem: 'blocked_address',
        reason: expect.stringMatching(/is a loopback name; list 127\.0\.0\.0\/8 in POSTHORN_ALLOW_NETWORKS/),
      });
      expect(createAddressGuard({ allow: ['10.0.0.0/8'] }).checkUrl(url).ok).toBe(false);
      for (const allow of ['127.0.0.0/8', '::1/128']) {
        expect(createAddressGuard({ allow: [allow] }).checkUrl(url).ok).toBe(true);
      }
    },
  );

  it('a URL that was parsed before is judged the same', () => {
    expect(guard.checkUrl(new URL('http://0x7f.1/'))).toMatchObject({ ok: false, problem: 'blocked_address' });
  });
});
