import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { literalAddress, specialRangeOf } from './addresses.ts';

describe('special addresses', () => {
  it.each([
    ['0.0.0.0', 'this network'],
    ['10.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'carrier-grade NAT'],
    ['100.127.255.255', 'carrier-grade NAT'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['169.254.169.254', 'link-local'],
    ['192.0.0.8', 'protocol assignments'],
    ['192.0.2.1', 'documentation'],
    ['198.51.100.7', 'documentation'],
    ['203.0.113.7', 'documentation'],
    ['192.88.99.1', '6to4'],
    ['198.18.0.1', 'benchmark'],
    ['198.19.255.255', 'benchmark'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['::ffff:a00:1', 'private'],
    ['::ffff:0:127.0.0.1', 'reserved'],
    ['::127.0.0.1', 'reserved'],
    ['64:ff9b::7f00:1', 'NAT64'],
    ['64:ff9b:1::1', 'NAT64'],
    ['100::1', 'discard'],
    ['2001::1', 'Teredo'],
    ['2001:2::1', 'benchmark'],
    ['2001:10::1', 'protocol assignments'],
    ['2001:db8::1', 'documentation'],
    ['3fff::1', 'documentation'],
    ['2002:7f00:1::', '6to4'],
    ['fc00::1', 'private'],
    ['fd12:3456::1', 'private'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['fec0::1', 'reserved'],
    ['ff02::1', 'multicast'],
    ['5f00::1', 'reserved'],
    ['nonsense', 'unreadable'],
    ['127.1', 'unreadable'],
    ['', 'unreadable'],
  ])('%s is %s', (address, range) => {
    expect(specialRangeOf(address)).toBe(range);
  });

  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.15.0.1',
    '172.32.0.1',
    '100.128.0.1',
    '192.0.1.1',
    '198.20.0.1',
    '223.255.255.255',
  ])('%s is public', (address) => {
    expect(specialRangeOf(address)).toBeUndefined();
    expect(specialRangeOf(`::ffff:${address}`)).toBeUndefined();
  });

  it.each(['2606:4700:4700::1111', '2a00:1450:4001::1', '2001:4860:4860::8888', '2003::1'])(
    '%s is public',
    (address) => {
      expect(specialRangeOf(address)).toBeUndefined();
    },
  );

  it('judges an IPv4-mapped address as the IPv4 address inside it, for every address', () => {
    const octet = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(fc.tuple(octet, octet, octet, octet), (octets) => {
        const dotted = octets.join('.');
        const [a, b, c, d] = octets;
        const hex = `::ffff:${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        expect(specialRangeOf(hex)).toBe(specialRangeOf(dotted));
      }),
    );
  });
});

describe('the literal address in a URL', () => {
  it.each([
    ['http://127.1/', '127.0.0.1'],
    ['http://0x7f.1/', '127.0.0.1'],
    ['http://2130706433/', '127.0.0.1'],
    ['http://0177.0.0.1/', '127.0.0.1'],
    ['http://127.0.0.1./', '127.0.0.1'],
    ['http://１２７.0.0.1/', '127.0.0.1'],
    ['http://[::ffff:7f00:1]/', '::ffff:7f00:1'],
    ['http://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
    ['http://[::1]/', '::1'],
  ])('%s is %s, however it is spelled', (url, address) => {
    expect(literalAddress(new URL(url).hostname)).toBe(address);
  });

  it('is none where a name stands', () => {
    expect(literalAddress(new URL('https://localhost/').hostname)).toBeUndefined();
    expect(literalAddress(new URL('https://127.0.0.1.example.com/').hostname)).toBeUndefined();
  });
});
