import { describe, expect, it } from 'vitest';
import { createProxyCheck, sourceOf } from './source.ts';

describe('the source of a request', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:2:ffff::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s counts as %s', (address, source) => {
    expect(sourceOf(address)).toBe(source);
  });
});

describe('a trusted proxy', () => {
  it('is known by its address, its range, its mask or the name of its range', () => {
    const isProxy = createProxyCheck([
      '192.0.2.7',
      '10.0.0.0/8',
      '172.16.0.0/255.240.0.0',
      'loopback',
      '2001:db8::/32',
    ]);
    const proxies = [
      '192.0.2.7',
      '::ffff:192.0.2.7',
      '10.1.2.3',
      '172.31.0.1',
      '127.0.0.9',
      '::1',
      '2001:db8::7',
    ];
    expect(proxies.filter((address) => !isProxy(address))).toEqual([]);
    expect(['192.0.2.8', '11.0.0.1', '172.32.0.1', '2001:db9::7', ''].filter(isProxy)).toEqual([]);
  });

  it('is everybody or nobody where the setting says just that', () => {
    expect([createProxyCheck(true)('192.0.2.7'), createProxyCheck(false)('192.0.2.7')]).toEqual([
      true,
      false,
    ]);
  });
});
