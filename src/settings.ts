import { readFileSync } from 'node:fs';
import { attempt } from './attempt.ts';

// Declares and reads settings: a kind per JSON-like type, with a default, a unit and a sentence. A secret may be in the file of its _FILE setting.

export interface Kind<T> {
  parse(text: string): T;
  /** The default in the notation of the environment. */
  fallback: string;
  about: string;
  unit?: string;
  /** Its value is never shown, even if it is wrong. */
  secret?: boolean;
}

export type Values<S extends Record<string, Kind<unknown>>> = {
  [K in keyof S]: S[K] extends Kind<infer T> ? T : never;
};

/** Reads every declared setting. One error names all wrong ones, so that they can be fixed at once. */
export function read<S extends Record<string, Kind<unknown>>>(
  settings: S,
  env: Readonly<Record<string, string | undefined>>,
): Values<S> {
  const faults: string[] = [];
  const values = Object.entries(settings).map(([name, kind]) => {
    let given = env[name];
    try {
      if (kind.secret && !given && env[secretFile(name)]) given = readSecret(env[secretFile(name)] ?? '');
      return [name, kind.parse(given === undefined || given === '' ? kind.fallback : given.trim())];
    } catch (error) {
      const shown = kind.secret ? name : `${name}="${given}"`;
      faults.push(`${shown} ${error instanceof Error ? error.message : error}`);
      return [name, undefined];
    }
  });
  if (faults.length > 0) throw new SettingsError(faults.map((fault) => `Setting ${fault}.`).join('\n'));
  return Object.fromEntries(values) as Values<S>;
}

/** The setting that names a file with a secret, as mounted by orchestrators. */
export function secretFile(name: string): string {
  return `${name}_FILE`;
}

function readSecret(file: string): string {
  try {
    const secret = readFileSync(file, 'utf8').trim();
    if (secret !== '') return secret;
  } catch {
    throw new Error(`cannot be read from ${file}`);
  }
  throw new Error(`is empty in ${file}`); // otherwise a role would generate a key and use it
}

export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

function kind<T>(fallback: string, about: string, parse: (given: string) => T, unit?: string): Kind<T> {
  return { fallback, about, unit, parse };
}

export function text(fallback: string, about: string): Kind<string> {
  return kind(fallback, about, (given) => given);
}

export function optional<T>(kind: Kind<T>): Kind<T | undefined> {
  return { ...kind, fallback: '', parse: (given) => (given === '' ? undefined : kind.parse(given)) };
}

interface Range {
  min?: number;
  max?: number;
  unit?: string;
}

const numeric =
  (pattern: RegExp, what: string, usualUnit?: string) =>
  (
    fallback: number,
    about: string,
    { min = 0, max = Number.MAX_SAFE_INTEGER, unit = usualUnit }: Range = {},
  ) =>
    kind(String(fallback), about, (given) => within(given, pattern, min, max, what), unit);

const digits = /^\d+$/;
export const integer = numeric(digits, 'a whole number');
export const seconds = numeric(digits, 'a whole number', 'seconds');
export const milliseconds = numeric(digits, 'a whole number', 'milliseconds');
export const decimal = numeric(/^\d+(\.\d+)?$/, 'a number');

export function days(fallback: number, about: string): Kind<number> {
  return integer(fallback, about, { unit: 'days', min: 1, max: 36_500 });
}

/** The port of a role's public address, so not 0. */
export function port(fallback: number, about: string): Kind<number> {
  return integer(fallback, about, { min: 1, max: 65_535 });
}

function within(given: string, pattern: RegExp, min: number, max: number, what: string): number {
  const number = pattern.test(given) ? Number(given) : Number.NaN;
  if (number >= min && number <= max) return number;
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  throw new Error(`must be ${what} ${range}`);
}

export function flag(fallback: boolean, about: string): Kind<boolean> {
  const parse = (given: string) => {
    if (/^(true|1|yes|on)$/i.test(given)) return true;
    if (/^(false|0|no|off)$/i.test(given)) return false;
    throw new Error('must be true or false');
  };
  return kind(String(fallback), about, parse, 'true or false');
}

export function choice<const T extends string>(values: readonly T[], fallback: T, about: string): Kind<T> {
  const parse = (given: string) => {
    const chosen = values.find((value) => value === given);
    if (chosen === undefined) throw new Error(`must be one of ${values.join(', ')}`);
    return chosen;
  };
  return kind(fallback, about, parse, values.join(' | '));
}

const sizeUnits: Record<string, number> = { '': 1, b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

/** Bytes; units are binary: 1 kb is 1,024. */
export function size(fallback: string, about: string): Kind<number> {
  const parse = (given: string) => {
    const [, number, unit = ''] = /^(\d+(?:\.\d+)?)\s*(b|kb|mb|gb)?$/i.exec(given) ?? [];
    const factor = sizeUnits[unit.toLowerCase()];
    if (number === undefined || factor === undefined)
      throw new Error('must be a size such as 5242880, 512kb or 5mb');
    return Math.floor(Number(number) * factor);
  };
  return kind(fallback, about, parse, 'bytes, or with kb, mb, gb (binary)');
}

export function list<T extends string = string>(
  fallback: string,
  about: string,
  readItem = (item: string): T => item as T,
): Kind<T[]> {
  return kind(fallback, about, (given) => {
    const items = given.split(',').map((item) => item.trim());
    return items.filter((item) => item !== '').map(readItem);
  });
}

/** A JSON array. A function checks each item, and throws its fault. */
export function jsonList<T>(fallback: string, about: string, readItem: (item: unknown) => T): Kind<T[]> {
  const parse = (given: string) => {
    const items = attempt(() => JSON.parse(given));
    if (!Array.isArray(items)) throw new Error('must be a JSON array');
    return items.map(readItem);
  };
  return kind(fallback, about, parse, 'JSON array');
}

/** A JSON object. A function checks its members, and throws a fault. */
export function jsonObject<T>(about: string, readMembers: (members: [string, unknown][]) => T): Kind<T> {
  const parse = (given: string) => {
    const value = attempt(() => JSON.parse(given));
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new Error('must be a JSON object');
    return readMembers(Object.entries(value));
  };
  return kind('{}', about, parse, 'JSON object');
}

export function url(about: string): Kind<string> {
  const parse = (given: string) => {
    if (!URL.canParse(given) || !/^https?:/.test(given)) throw new Error('must be an http or https URL');
    const { username, password } = new URL(given);
    // Paths are appended to it, and others parse the result.
    if (username !== '' || password !== '' || /[\s?#]/.test(given))
      throw new Error('must be a base address: no user, query, fragment or space');
    return given.replace(/\/+$/, '');
  };
  return kind('', about, parse, 'URL');
}

/** Connection strings, which contain passwords. */
export function databaseAddresses(about: string): Kind<string[]> {
  const readItem = (item: string) => {
    if (/^postgres(ql)?:/.test(item) && URL.canParse(item) && new URL(item).host !== '') return item;
    throw new Error('must have addresses such as postgres://user:password@host:5432/database');
  };
  return { ...list('', about, readItem), secret: true };
}

/** Names that are allowed in keyIds and in a registry's addresses. */
const namePart = '(?!\\.\\.?(?:/|$))[A-Za-z0-9._:~-]{1,255}';

export function name(fallback: string, about: string): Kind<string> {
  const pattern = new RegExp(`^${namePart}$`);
  return matching(pattern, 'made only of letters, digits and . _ : ~ -', fallback, about);
}

/** The start of index names of OpenSearch. */
export function indexPrefix(fallback: string, about: string): Kind<string> {
  const form = 'at most 100 lower-case letters, digits, - and _, the first one a letter or digit';
  return matching(/^[a-z0-9][a-z0-9_-]{0,99}$/, form, fallback, about);
}

export function subscriberId(fallback: string, about: string): Kind<string> {
  const pattern = new RegExp(`^${namePart}(?:/${namePart})?$`);
  return matching(pattern, 'a domain such as bpp.example.com, or namespace/registry', fallback, about);
}

export function networkId(fallback: string, about: string): Kind<string> {
  const pattern = new RegExp(`^${namePart}/${namePart}$`);
  return matching(pattern, 'a network such as example.org/retail', fallback, about);
}

export function seed(about: string): Kind<string | undefined> {
  const canonical = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;
  const form = '32 bytes in Base64, as "signpost keys new" makes them';
  return { ...optional(matching(canonical, form, '', about)), secret: true };
}

export function token(about: string, { off = false } = {}): Kind<string | undefined> {
  const form = 'a token of 16 or more letters, digits and . _ ~ + / -';
  const pattern = off ? /^(?:off|[A-Za-z0-9._~+/-]{16,}=*)$/ : /^[A-Za-z0-9._~+/-]{16,}=*$/;
  return { ...optional(matching(pattern, off ? `off, or ${form}` : form, '', about)), secret: true };
}

/** A text that matches a pattern; `form` describes it in words. */
function matching(pattern: RegExp, form: string, fallback: string, about: string): Kind<string> {
  return kind(fallback, about, (given) => {
    if (!pattern.test(given)) throw new Error(`must be ${form}`);
    return given;
  });
}
