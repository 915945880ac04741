import { type LookupAddress, promises } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../error-code.ts';
import { createTurns, type TurnsOptions } from '../fair-turns.ts';
import { LruCache } from '../lru-cache.ts';
import { openSystemNames, type SystemNames } from './system-names.ts';

// Resolves names. The system's resolver (getaddrinfo) blocks one of the four threads of the process until the name server answers, which a zone can
// prevent: a few calls to such a name block every other call. Here one slow zone delays only itself:
//
//   hosts file, localhost → cache (failures, too) → the same lookup in progress → a turn of the zone → name servers
//
// Names are looked up like the system does: in the hosts file, then in DNS with the search domains of resolv.conf. Other sources of a system (mDNS,
// NetBIOS) are not used.

export interface NameLookupOptions {
  /** Addresses of name servers, with a port unless it is 53. If given, names are looked up unchanged, without search domains. */
  servers?: readonly string[];
  system?: SystemNames;
  limits?: Partial<NameLookupLimits>;
}

interface NameLookupLimits {
  /** For one lookup, including the wait for its turn. */
  deadlineMs: number;
  /** Lookups in progress, shared between zones (see fair-turns.ts). Each sends two queries; common forwarders accept only 100 or 150 at once. */
  turns: TurnsOptions;
  /** Maximum, whatever the zone's TTL. */
  maxKeptMs: number;
  /** For a name that does not exist, or if no name server answered. */
  failureKeptMs: number;
  maxEntries: number;
}

const usualLimits: NameLookupLimits = {
  deadlineMs: 5_000,
  turns: { size: 32, maxWaiting: 1_000 },
  maxKeptMs: 60_000,
  failureKeptMs: 10_000,
  maxEntries: 10_000,
};
/** A server is queried twice within the deadline; the second wait is twice as long. */
const attempts = { timeout: 1_500, tries: 2 };
/** How long to wait for IPv6 addresses after the IPv4 ones have arrived. */
const otherFamilyMs = 100;
/** A zone may list thousands; no client tries more than these. */
const maxAddressesPerFamily = 8;

/** Answers like `dns.lookup`, for opening sockets. */
export function createNameLookup(options: NameLookupOptions = {}): LookupFunction {
  const limits = { ...usualLimits, ...options.limits };
  const { servers = [], system = openSystemNames() } = options;
  const kept = new LruCache<string, { answer: Answer; untilMs: number }>(limits.maxEntries);
  const underWay = new Map<string, Promise<Answer>>();
  const turns = createTurns(limits.turns);

  async function find(name: string): Promise<Answer> {
    const known = findHere(name, system) ?? findKept(name) ?? underWay.get(name);
    if (known) return known;
    const asking = askInTurn(name).finally(() => underWay.delete(name));
    underWay.set(name, asking);
    return asking;
  }

  function findKept(name: string): Answer | undefined {
    const entry = kept.find(name);
    return entry && entry.untilMs > performance.now() ? entry.answer : undefined;
  }

  async function askInTurn(name: string): Promise<Answer> {
    const endMs = performance.now() + limits.deadlineMs;
    const turn = await turns.take(zoneOf(name), limits.deadlineMs).catch(() => undefined);
    if (!turn) return { code: 'EAI_AGAIN' };
    const leftMs = endMs - performance.now();
    const answer = await ask(name, leftMs).finally(() => turn.end());
    // A name that waited for others of its zone may well be found the next time.
    if ('code' in answer && answer.code === 'EAI_AGAIN' && leftMs < limits.deadlineMs / 2) return answer;
    const ms = 'code' in answer ? limits.failureKeptMs : Math.min(answer.ttlMs, limits.maxKeptMs);
    if (ms > 0) kept.keep(name, { answer, untilMs: performance.now() + ms });
    return answer;
  }

  /** A separate resolver per lookup reads the current settings of the system, and can be stopped at the deadline. It uses no thread. */
  async function ask(name: string, withinMs: number): Promise<Answer> {
    const resolver = new promises.Resolver(attempts);
    if (servers.length > 0) resolver.setServers(servers);
    const late = new AbortController();
    late.signal.addEventListener('abort', () => resolver.cancel());
    const timer = setTimeout(() => late.abort(), withinMs);
    const spellings = servers.length > 0 ? [name.replace(/\.$/, '')] : system.spellOut(name);
    return await askUntilFound(resolver, spellings, late.signal).finally(() => {
      clearTimeout(timer);
      late.abort(); // ends a query for IPv6 that is no longer needed
    });
  }

  return (hostname, { all, family }, callback) => {
    const give = (answer: Answer) => {
      const found = 'code' in answer ? [] : ofFamily(answer.addresses, family);
      const [first] = found;
      if (first === undefined)
        callback(lookupError(hostname, 'code' in answer ? answer.code : 'ENOTFOUND'), []);
      else if (all) callback(null, found);
      else callback(null, first.address, first.family);
    };
    find(hostname.toLowerCase()).then(give, (error) => callback(error, []));
  };
}

/** The result of a lookup. Failures are also answers: they are shared and cached like others. */
type Answer = { addresses: LookupAddress[]; ttlMs: number } | { code: LookupCode };
type LookupCode = 'ENOTFOUND' | 'EAI_AGAIN';

function findHere(asked: string, { findInHosts }: SystemNames): Answer | undefined {
  const name = asked.replace(/\.$/, '');
  const written = isIP(name) === 0 ? findInHosts(name) : [name];
  if (written) return { addresses: toAddresses(written), ttlMs: 0 };
  // RFC 6761, 6.3: these never leave the machine.
  if (name === 'localhost' || name.endsWith('.localhost'))
    return { addresses: toAddresses(['127.0.0.1', '::1']), ttlMs: 0 };
  return undefined;
}

function toAddresses(texts: readonly string[]): LookupAddress[] {
  return texts.map((address) => ({ address, family: isIP(address) }));
}

/** Roughly a registrable domain: two labels, or three below suffixes such as co.in. Names of one zone share its turns. */
function zoneOf(name: string): string {
  const labels = name.replace(/\.$/, '').split('.');
  const suffix = labels.slice(-2).join('.');
  return labels.slice(publicSuffix.test(suffix) ? -3 : -2).join('.');
}

const publicSuffix =
  /^(ac|co|com|edu|firm|gen|go|gob|gov|gouv|ind|info|me|ne|net|nic|nom|or|org|res)\.[a-z]{2}$/;

async function askUntilFound(
  resolver: promises.Resolver,
  spellings: readonly string[],
  late: AbortSignal,
): Promise<Answer> {
  let code: LookupCode = 'ENOTFOUND';
  for (const spelling of spellings) {
    const answer = await askServers(resolver, spelling);
    if ('addresses' in answer) return answer;
    if (answer.code === 'EAI_AGAIN') code = answer.code;
    if (late.aborted) break;
  }
  return { code };
}

/** Both families at once; the wait for IPv6 is short if there is IPv4. */
async function askServers(resolver: promises.Resolver, name: string): Promise<Answer> {
  const asking6 = readRecords(resolver.resolve6(name, { ttl: true }));
  const four = await readRecords(resolver.resolve4(name, { ttl: true }));
  const hasFour = typeof four !== 'string' && four.length > 0;
  const six = hasFour ? await Promise.race([asking6, delay(otherFamilyMs, [])]) : await asking6;
  const records = [four, six].flatMap((answer) => (answer === 'failed' ? [] : answer));
  if (records.length === 0) return { code: [four, six].includes('failed') ? 'EAI_AGAIN' : 'ENOTFOUND' };
  return {
    addresses: toAddresses(records.map(({ address }) => address)),
    ttlMs: Math.min(...records.map(({ ttl }) => ttl)) * 1000,
  };
}

type FamilyAnswer = { address: string; ttl: number }[] | 'failed';

async function readRecords(asking: Promise<{ address: string; ttl: number }[]>): Promise<FamilyAnswer> {
  try {
    return (await asking).slice(0, maxAddressesPerFamily);
  } catch (error) {
    // The name does not exist, or has no address of the family.
    return hasCode(error, 'ENOTFOUND', 'ENODATA', 'EBADNAME') ? [] : 'failed';
  }
}

function ofFamily(addresses: readonly LookupAddress[], family: unknown): LookupAddress[] {
  const wanted = family === 'IPv4' ? 4 : family === 'IPv6' ? 6 : family;
  return addresses.filter((one) => (wanted !== 4 && wanted !== 6) || one.family === wanted);
}

function lookupError(hostname: string, code: LookupCode): NodeJS.ErrnoException {
  const error = new Error(`getaddrinfo ${code} ${hostname}`);
  return Object.assign(error, { code, hostname, syscall: 'getaddrinfo' });
}
