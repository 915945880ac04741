import { isIP } from 'node:net';
import { type Language, stemmers } from './languages.ts';
import { networkId, subscriberId, url } from './settings.ts';

// The entries of list settings, checked one by one (setting-table.ts has the settings).

/** An entry of DISCOVERY_SUBSCRIPTIONS. */
export interface SubscriptionSetting {
  catalogUrl: string;
  /** Default: the signer whose registry record has an address of the same origin. */
  catalogId?: string;
  networkIds?: string[];
  schemaTypes?: string[];
}

export function readSubscription(item: unknown): SubscriptionSetting {
  const { catalogUrl, catalogId, networkIds, schemaTypes, ...others } = Object(item) as Record<
    string,
    unknown
  >;
  const isList = (value: unknown) => value === undefined || (Array.isArray(value) && value.every(isText));
  const isText = (value: unknown) => typeof value === 'string' && value !== '';
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new Error(`has an entry with the unknown member "${unknown}"`);
  if (!isText(catalogUrl) || !/^https?:/.test(String(catalogUrl)) || !URL.canParse(String(catalogUrl)))
    throw new Error('has an entry whose catalogUrl is not an http or https URL');
  if (catalogId !== undefined && !isText(catalogId))
    throw new Error('has an entry whose catalogId is not a text');
  if (!isList(networkIds)) throw new Error('has an entry whose networkIds is not an array of texts');
  if (!isList(schemaTypes)) throw new Error('has an entry whose schemaTypes is not an array of texts');
  return item as SubscriptionSetting;
}

export function readNetworkId(item: unknown): string {
  return networkId('', '').parse(textOf(item));
}

export function readNodeName(item: unknown): string {
  const kind = /^https?:/.test(textOf(item)) ? url('') : subscriberId('', '');
  return kind.parse(textOf(item));
}

export function readBaseAddress(item: unknown): string {
  return url('').parse(textOf(item));
}

/** Parses SCHEMA_ALIASES. Prefixes end at a boundary of path segments. */
export function readSchemaAliases(members: readonly [string, unknown][]): (readonly [string, string])[] {
  const aliases = members.map(([alias, prefix]) => [readPrefix(alias), readPrefix(prefix)] as const);
  const chained = aliases.find(([, prefix]) => aliases.some(([alias]) => prefix.startsWith(alias)));
  if (chained)
    throw new Error(`must not name a prefix that is itself an alias: "${chained[1]}" begins with one`);
  return aliases;
}

function readPrefix(given: unknown): string {
  try {
    const address = new URL(url('').parse(typeof given === 'string' ? given : '')).href;
    return address.endsWith('/') ? address : `${address}/`;
  } catch (error) {
    throw new Error(`has ${JSON.stringify(given)}, which ${(error as Error).message}`);
  }
}

/** Parses an item of DNS_SERVERS: an address, with a port if it is not 53. */
export function readNameServer(item: string): string {
  const [, six, four, port = '53'] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(item) ?? [];
  const isAddress = isIP(item) !== 0 || isIP(six ?? '') === 6 || isIP(four ?? '') === 4;
  if (!isAddress || Number(port) < 1 || Number(port) > 65_535)
    throw new Error('must name addresses such as 192.0.2.1, 192.0.2.1:5353 or [2001:db8::1]:53');
  return item;
}

function textOf(item: unknown): string {
  if (typeof item !== 'string') throw new Error('must be a JSON array of texts');
  return item;
}

/** An entry of SEARCH_LANGUAGES. */
export function readLanguage(item: string): Language {
  if (Object.hasOwn(stemmers, item)) return item as Language;
  throw new Error(`names "${item}", but only ${Object.keys(stemmers).join(', ')} are known`);
}
