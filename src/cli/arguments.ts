import { type Command, InvalidArgumentError } from 'commander';
import type { Action } from '../protocol/actions.ts';
import type { CatalogType } from '../protocol/catalog.ts';
import { isIdPart, isSubscriberId } from '../protocol/identity.ts';
import { parsePublicKey } from '../protocol/keys.ts';
import { recordStates } from '../protocol/registry-record.ts';
import { isIndexName } from '../publisher/paths.ts';
import { reasonOf } from './command.ts';

// Parsers of arguments. Nearly every command loads this file, so the names of catalog types are repeated here: their schemas load slowly.

export const workersHelp = 'processes behind the same ports, such as one per core (default: WORKERS)';

export const usualWaitSeconds = 30;

/** The options of a command that sends a signed request and waits for its callback. The texts describe the signer, the callback and the address. */
export function signingOptions(command: Command, { as, wait, uri }: Record<'as' | 'wait' | 'uri', string>) {
  return command
    .option('--as <subscriber>', as, parseSubscriber)
    .option('--key-id <id>', 'name of the key in the registry', parseKeyId)
    .option('--key <file|seed>', 'the private key (default: the one in DATA_DIR/keys)')
    .option('--wait <seconds>', wait, parseSeconds, usualWaitSeconds)
    .option('--listen <address>', 'where to receive the answer: host:port', parseListen)
    .option('--uri <url>', uri, parseUrl);
}

export const catalogTypes: readonly CatalogType[] = ['MASTER', 'REGULAR'];

/** Parses an argument with `read`. If that returns undefined, the error message says what is expected. */
export function parserOf<T>(read: (text: string) => T | undefined, message: string): (text: string) => T {
  return (text) => {
    const value = read(text);
    if (value !== undefined) return value;
    throw new InvalidArgumentError(message);
  };
}

function matching(holds: (text: string) => boolean, message: string): (text: string) => string {
  return parserOf((text) => (holds(text) ? text : undefined), message);
}

export function numberOf(pattern: RegExp, message: string): (text: string) => number {
  return parserOf((text) => (pattern.test(text) ? Number(text) : undefined), message);
}

/** Words in capitals are accepted in any case. */
export function oneOf<T extends string>(words: readonly T[], message = `Use one of ${words.join(', ')}.`) {
  return parserOf((text) => words.find((word) => [text, text.toUpperCase()].includes(word)), message);
}

export function collect<T>(parse: (text: string) => T): (text: string, earlier?: T[]) => T[] {
  return (text, earlier = []) => [...earlier, parse(text)];
}

export const collectTexts = collect((text) => text);

export const parseSubscriber = matching(
  isSubscriberId,
  'Use a domain such as bpp.example.com, or namespace/registry.',
);

export const parseNetwork = matching(
  (text) => isSubscriberId(text) && text.includes('/'),
  'A network id has the form namespace/registry, such as example.org/retail.',
);
export const collectNetworks = collect(parseNetwork);

export const parseKeyId = matching(isIdPart, 'A key id has 1 to 255 letters, digits or . _ : ~ -');

export function parseUrl(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text;
  throw new InvalidArgumentError(`"${text}" is not an http or https address.`);
}
export const collectUrls = collect(parseUrl);

/** Accepts an address or a subscriberId. */
export const parseNode = (text: string) => (/^https?:/.test(text) ? parseUrl(text) : parseSubscriber(text));

export function parseKey(text: string): string {
  try {
    parsePublicKey(text);
    return text;
  } catch (error) {
    throw new InvalidArgumentError(reasonOf(error));
  }
}

export const parseState = oneOf(recordStates);
export const parseMethod = oneOf<Action['method']>(['POST', 'GET', 'DELETE'], 'Use POST, GET or DELETE.');
export const parseCatalogType = oneOf(catalogTypes);
export const parseMode = oneOf(['MERGE', 'FULL'], 'Use MERGE or FULL.');

export const parseTime = parserOf((text) => {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
}, 'Use an ISO 8601 time, such as 2026-01-31T00:00:00Z.');

export const parseIndexName = matching(
  isIndexName,
  'Use up to 64 lower-case letters, digits and -, such as bangalore.',
);

export const parseSeconds = numberOf(/^\d{1,9}$/, 'Use a whole number of seconds.');
export const parseCount = numberOf(/^[1-9]\d{0,8}$/, 'Use a whole number of at least 1.');
export const parseOffset = numberOf(/^\d{1,9}$/, 'Use a whole number of at least 0.');

/** `host:port`, `[::1]:port`, `:port` or `port`. */
export function parseListen(text: string): { host: string; port: number } {
  const [, host, port = ''] =
    /^(?:http:\/\/)?(?:(\[[0-9a-fA-F:.]+\]|[^:/\s]*):)?(\d{1,5})\/?$/.exec(text) ?? [];
  if (port !== '' && Number(port) <= 65_535)
    return { host: host?.replace(/^\[|\]$/g, '') || '127.0.0.1', port: Number(port) };
  throw new InvalidArgumentError('Use host:port, such as 127.0.0.1:5001.');
}
