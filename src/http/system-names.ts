import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';

// The machine's own configuration of names, which may change at any time: the hosts file, and the search domains of resolv.conf.

export interface SystemNames {
  /** The addresses that the hosts file gives a name, in the order of the file. */
  findInHosts(name: string): readonly string[] | undefined;
  /** The names to look up, one after the other, until one has an address. */
  spellOut(name: string): string[];
}

export function openSystemNames({
  hostsPath = usualHostsPath(),
  resolvPath = '/etc/resolv.conf',
} = {}): SystemNames {
  const hosts = openWatchedFile(hostsPath, parseHosts);
  const resolv = openWatchedFile(resolvPath, parseResolvConf);
  return { findInHosts: (name) => hosts().get(name), spellOut: (name) => spellOut(name, resolv()) };
}

const lookAgainMs = 1_000;

/** A small local file, looked at once a second at most: not worth a thread. One that cannot be read counts as empty. */
function openWatchedFile<T>(path: string, parse: (text: string) => T): () => T {
  let value = parse('');
  let [stamp, lookAtMs] = ['', 0];
  return () => {
    if (performance.now() < lookAtMs) return value;
    lookAtMs = performance.now() + lookAgainMs;
    try {
      const { mtimeMs, size, ino } = statSync(path);
      const seen = `${mtimeMs} ${size} ${ino}`;
      if (seen !== stamp) [value, stamp] = [parse(readFileSync(path, 'utf8')), seen];
    } catch {
      [value, stamp] = [parse(''), ''];
    }
    return value;
  };
}

/** hosts(5): an address and its names on each line. */
export function parseHosts(text: string): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const [address = '', ...named] of readLines(text)) {
    if (isIP(address) === 0) continue;
    for (const name of named) {
      const known = names.get(name.toLowerCase()) ?? [];
      names.set(name.toLowerCase(), [...known, address]);
    }
  }
  return names;
}

interface SearchRules {
  domains: string[];
  /** A name with fewer dots is asked for in the search domains first. */
  ndots: number;
}

/** resolv.conf(5): the last `search` or `domain` counts. The name servers in it are read by the resolver itself. */
export function parseResolvConf(text: string): SearchRules {
  const rules: SearchRules = { domains: [], ndots: 1 };
  for (const [keyword, ...values] of readLines(text)) {
    if (keyword === 'search' || keyword === 'domain')
      rules.domains = values.map((domain) => domain.toLowerCase().replace(/\.$/, '')).filter(Boolean);
    const ndots = keyword === 'options' && values.findLast((value) => /^ndots:\d{1,2}$/.test(value));
    if (ndots) rules.ndots = Number(ndots.slice('ndots:'.length));
  }
  return rules;
}

/** As the system's own resolver does; containers find each other in this way: `catalog.shop` for `catalog.shop.svc.cluster.local`. */
export function spellOut(name: string, { domains, ndots }: SearchRules): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const searched = domains.map((domain) => `${name}.${domain}`);
  const dots = name.split('.').length - 1;
  return dots >= ndots ? [name, ...searched] : [...searched, name];
}

function readLines(text: string): string[][] {
  return text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  );
}

function usualHostsPath(): string {
  if (process.platform !== 'win32') return '/etc/hosts';
  return join('C:', 'Windows', 'System32', 'drivers', 'etc', 'hosts');
}
