import { InvalidArgumentError } from 'commander';
import type { Action } from '../protocol/actions.ts';
import type { CatalogType } from '../protocol/catalog.ts';
import { isIdPart, isSubscriberId } from '../protocol/identity.ts';
import { parsePublicKey } from '../protocol/keys.ts';
import { type RecordState, recordStates } from '../protocol/registry-record.ts';
import { isIndexName } from '../publisher/paths.ts';

// What people type, checked. The messages follow commander's "argument '…' is invalid." Loaded by nearly every command: the names of catalog
// types stand here once more, because the schemas that have them take long to load.

export const workersHelp = 'processes behind the same ports, such as one per core (default: WORKERS)';

/** How long a command waits for a callback unless told otherwise. */
export const usualWaitSeconds = 30;

export const catalogTypes: readonly CatalogType[] = ['MASTER', 'REGULAR'];

/** For options that may be given again. */
export function collectTexts(text: string, earlier: string[] = []): string[] {
  return [...earlier, text];
}

export function parseSubscriber(text: string): string {
  if (isSubscriberId(text)) return text;
  throw new InvalidArgumentError('It is a domain such as bpp.example.com, or namespace/registry.');
}

export function parseNetwork(text: string): string {
  if (isSubscriberId(text) && text.includes('/')) return text;
  throw new InvalidArgumentError('A network id has the form namespace/registry, such as example.org/retail.');
}

export function collectNetworks(text: string, earlier: string[] = []): string[] {
  return [...earlier, parseNetwork(text)];
}

export function parseKeyId(text: string): string {
  if (isIdPart(text)) return text;
  throw new InvalidArgumentError('A key id has 1 to 255 letters, digits or . _ : ~ -');
}

export function parseUrl(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text;
  throw new InvalidArgumentError(`"${text}" is no http or https address.`);
}

export function collectUrls(text: string, earlier: string[] = []): string[] {
  return [...earlier, parseUrl(text)];
}

export function parseKey(text: string): string {
  try {
    parsePublicKey(text);
    return text;
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : 'It is no Ed25519 public key.');
  }
}

export function parseState(text: string): RecordState {
  const state = recordStates.find((name) => name === text);
  if (state) return state;
  throw new InvalidArgumentError(`It is one of ${recordStates.join(', ')}.`);
}

export function parseTime(text: string): Date {
  const time = new Date(text);
  if (!Number.isNaN(time.getTime())) return time;
  throw new InvalidArgumentError('It is an ISO 8601 time, such as 2026-01-31T00:00:00Z.');
}

export function parseSeconds(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is a whole number of seconds.');
}

export function parseMethod(text: string): Action['method'] {
  const method = (['POST', 'GET', 'DELETE'] as const).find((name) => name === text.toUpperCase());
  if (method) return method;
  throw new InvalidArgumentError('It is POST, GET or DELETE.');
}

/** `host:port`, `[::1]:port`, `:port` or `port`. */
export function parseListen(text: string): { host: string; port: number } {
  const [, host, port = ''] =
    /^(?:http:\/\/)?(?:(\[[0-9a-fA-F:.]+\]|[^:/\s]*):)?(\d{1,5})\/?$/.exec(text) ?? [];
  if (port !== '' && Number(port) <= 65_535)
    return { host: host?.replace(/^\[|\]$/g, '') || '127.0.0.1', port: Number(port) };
  throw new InvalidArgumentError('It is host:port, such as 127.0.0.1:5001.');
}

export function parseCatalogType(text: string): CatalogType {
  const type = catalogTypes.find((name) => name === text.toUpperCase());
  if (type) return type;
  throw new InvalidArgumentError(`It is one of ${catalogTypes.join(', ')}.`);
}

export function parseMode(text: string): 'MERGE' | 'FULL' {
  const mode = (['MERGE', 'FULL'] as const).find((name) => name === text.toUpperCase());
  if (mode) return mode;
  throw new InvalidArgumentError('It is MERGE or FULL.');
}

export function parseIndexName(text: string): string {
  if (isIndexName(text)) return text;
  throw new InvalidArgumentError('It has up to 64 lower-case letters, digits and -, such as bangalore.');
}

export function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is a whole number of at least 1.');
}

export function parseOffset(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is a whole number of at least 0.');
}
