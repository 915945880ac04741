import canonicalize from 'canonicalize';
import { attempt } from '../attempt.ts';
import type { Json, JsonObject } from './json.ts';

/** The JSON Canonicalization Scheme (RFC 8785): one text for one JSON value, which is what signed files sign. */
export function canonicalJson(value: Json): string {
  // JSON.stringify writes numbers and strings as RFC 8785 asks, and is three times as fast. An escaped surrogate may be a lone one, which has no canonical form.
  const quick = attempt(() => JSON.stringify(inOrder(value)));
  const text = quick === undefined || quick.includes('\\ud') ? canonicalize(value) : quick;
  if (text === undefined) throw new TypeError('only JSON values have a canonical form');
  return text;
}

/** The value itself where its members are in order all through, otherwise a copy. Throws where an object cannot have them in order. */
function inOrder(value: Json): Json {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError('no JSON number');
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(inOrder);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const names = Object.keys(value);
  // Names that look like array indexes come first in every object, and `__proto__` cannot be set.
  if (/^\d/.test(names[0] ?? '') || names.includes('__proto__')) throw new TypeError('no order');
  const isOrdered = names.every((name, index) => index === 0 || (names[index - 1] as string) < name);
  let copy: JsonObject | undefined = isOrdered ? undefined : {};
  for (const name of isOrdered ? names : names.sort()) {
    const member = value[name] as Json;
    const ordered = inOrder(member);
    if (ordered !== member) copy ??= { ...value };
    if (copy) copy[name] = ordered;
  }
  return copy ?? value;
}

export interface CanonicalForm {
  write(value: Json): string;
  /** Sorts in place. */
  sortNames(names: string[]): string[];
}

export const jcsForm: CanonicalForm = { write: canonicalJson, sortNames: (names) => names.sort() };

/** The form of `goCanonicalJson` for what we write ourselves: there is no `-0` in it, because JSON.stringify writes 0. */
export const goForm: CanonicalForm = { write: (value) => writeAsGo(value, '0'), sortNames: sortByBytes };

/**
 * The form of one deployed publisher, which writes with Go's `encoding/json`. It differs from RFC 8785 in three ways: `&`, `<`, `>`, U+2028 and U+2029 are escaped, names are sorted by their UTF-8 bytes,
 * and `-0` keeps its sign.
 */
export function goCanonicalJson(value: Json): string {
  return writeAsGo(value, '-0');
}

function writeAsGo(value: Json, negativeZero: string): string {
  if (typeof value === 'string') return goString(value);
  if (Object.is(value, -0)) return negativeZero;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => writeAsGo(item, negativeZero)).join(',')}]`;
  const names = sortByBytes(Object.keys(value).filter((name) => value[name] !== undefined));
  const members = names.map((name) => `${goString(name)}:${writeAsGo(value[name] as Json, negativeZero)}`);
  return `{${members.join(',')}}`;
}

/** By UTF-8 bytes, which is by code points: another order than that of the language only from the surrogates on. */
function sortByBytes(names: string[]): string[] {
  if (!names.some((name) => /[\ud800-\uffff]/.test(name))) return names.sort();
  return names.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
}

function goString(text: string): string {
  return JSON.stringify(text).replace(
    /[&<>\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
