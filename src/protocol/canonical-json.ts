import canonicalize from 'canonicalize';
import type { Json } from './json.ts';

/** The JSON Canonicalization Scheme (RFC 8785): one text for one JSON value, which is what signed files sign. */
export function canonicalJson(value: Json): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('only JSON values have a canonical form');
  return text;
}

/**
 * The form of one deployed publisher, which sorts and writes with Go's `encoding/json` instead. Like RFC 8785 it has one
 * text for one value, with three differences: `&`, `<`, `>`, U+2028 and U+2029 are escaped, names are sorted by their
 * UTF-8 bytes, and `-0` keeps its sign. For reading only.
 */
export function goCanonicalJson(value: Json): string {
  if (typeof value === 'string') return goString(value);
  if (Object.is(value, -0)) return '-0';
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(goCanonicalJson).join(',')}]`;
  const members = Object.entries(value)
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([name, member]) => `${goString(name)}:${goCanonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

function goString(text: string): string {
  return JSON.stringify(text).replace(
    /[&<>\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
