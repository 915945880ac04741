import { BlockList, isIP, isIPv6 } from 'node:net';

// The origin of a request, which counts as one sender until its signature identifies it.

/** The key of an address for counting: an IPv6 address as its /64, because its owner usually has all of it; a mapped IPv4 address as IPv4. A closed connection has none. */
export function sourceOf(address: string | undefined): string {
  const bare = (address ?? '').replace(/%.*$/, '');
  if (!isIPv6(bare)) return bare;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail = ''] = bare.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const zeros = bare.includes('::') ? Math.max(0, 8 - left.length - right.length) : 0;
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right];
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}

/** Whether an address is one of TRUSTED_PROXIES, which are addresses, ranges, or Fastify's names of ranges. */
export function createProxyCheck(
  proxies: boolean | string | readonly string[],
): (address: string) => boolean {
  if (typeof proxies === 'boolean') return () => proxies;
  const entries = [proxies].flat().flatMap((text) => text.split(',').map((entry) => entry.trim()));
  const list = new BlockList();
  for (const entry of entries.flatMap((entry) => namedRanges[entry] ?? [entry])) addRange(list, entry);
  return (address) => {
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6');
  };
}

const namedRanges: Record<string, string[]> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** Fastify rejects a value that is not an address. */
function addRange(list: BlockList, entry: string): void {
  const [address = '', suffix] = entry.split('/');
  const family = isIP(address);
  if (family === 0) return;
  const [type, bits] = family === 4 ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
  list.addSubnet(address, suffix === undefined ? bits : prefixLength(suffix), type);
}

/** `8`, or as a mask, `255.0.0.0`. */
function prefixLength(suffix: string): number {
  if (!suffix.includes('.')) return Number(suffix);
  return suffix
    .split('.')
    .map((part) => Number(part).toString(2).replaceAll('0', '').length)
    .reduce((sum, ones) => sum + ones, 0);
}
