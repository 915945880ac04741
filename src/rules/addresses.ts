import { BlockList, isIP } from 'node:net';

/** Names the special-purpose range (RFC 6890) of an IP address that a message, record or file must not lead a node to. An IPv6 address is public if it is global unicast (2000::/3) and not in a special range. */
export function specialRangeOf(address: string): string | undefined {
  const bare = address.replace(/%.*$/, ''); // the zone of a link-local address
  switch (isIP(bare)) {
    case 4:
      return v4Ranges.find(({ list }) => list.check(bare, 'ipv4'))?.name;
    case 6:
      return specialRangeOfV6(bare);
    default:
      return 'unreadable';
  }
}

/** An IPv4-mapped address is the IPv4 address inside it: a connection would go there. */
function specialRangeOfV6(address: string): string | undefined {
  if (mapped.check(address, 'ipv6')) {
    return v4Ranges.find(({ list }) => list.check(address, 'ipv6'))?.name;
  }
  const special = v6Ranges.find(({ list }) => list.check(address, 'ipv6'));
  if (special) return special.name;
  return globalUnicast.check(address, 'ipv6') ? undefined : 'reserved';
}

/** The host of a URL as an address, or undefined if it is a name. URL has already parsed unusual spellings (127.1, 0x7f.1). */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

const v4Ranges = ranges('ipv4', {
  'this network': ['0.0.0.0/8'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  'carrier-grade NAT': ['100.64.0.0/10'],
  loopback: ['127.0.0.0/8'],
  'link-local': ['169.254.0.0/16'],
  'protocol assignments': ['192.0.0.0/24'],
  documentation: ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'],
  '6to4': ['192.88.99.0/24'],
  benchmark: ['198.18.0.0/15'],
  multicast: ['224.0.0.0/4'],
  reserved: ['240.0.0.0/4'],
});

const v6Ranges = ranges('ipv6', {
  unspecified: ['::/128'],
  loopback: ['::1/128'],
  NAT64: ['64:ff9b::/96', '64:ff9b:1::/48'],
  discard: ['100::/64'],
  Teredo: ['2001::/32'],
  benchmark: ['2001:2::/48'],
  documentation: ['2001:db8::/32', '3fff::/20'],
  'protocol assignments': ['2001::/23'],
  '6to4': ['2002::/16'],
  private: ['fc00::/7'],
  'link-local': ['fe80::/10'],
  multicast: ['ff00::/8'],
});

const mapped = blockList('ipv6', ['::ffff:0:0/96']);
const globalUnicast = blockList('ipv6', ['2000::/3']);

function ranges(family: 'ipv4' | 'ipv6', named: Record<string, string[]>) {
  return Object.entries(named).map(([name, subnets]) => ({ name, list: blockList(family, subnets) }));
}

function blockList(family: 'ipv4' | 'ipv6', subnets: string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = '', prefix = ''] = subnet.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
