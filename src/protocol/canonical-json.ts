import canonicalize from 'canonicalize';
import type { Json, JsonObject } from './json.ts';

/** The JSON Canonicalization Scheme (RFC 8785): one text for one JSON value, which is what signed files sign. */
export function canonicalJson(value: Json): string {
  const text = quickCanonicalJson(value) ?? canonicalize(value);
  if (text === undefined) throw new TypeError('only JSON values have a canonical form');
  return text;
}

/**
 * JSON.stringify writes numbers and strings as RFC 8785 asks, and members in their own order: for an ordered value it is all
 * that is needed, several times as fast. Undefined for what it would write differently.
 */
function quickCanonicalJson(value: Json): string | undefined {
  const ordered = inOrder(value);
  const text = ordered === unorderable ? undefined : JSON.stringify(ordered);
  // An escaped surrogate may be a lone one, which has no canonical form.
  return text?.includes('\\ud') ? undefined : text;
}

const unorderable = Symbol('unorderable');

/** The value itself where its members are in order all through, otherwise a copy. */
function inOrder(value: Json): Json | typeof unorderable {
  if (typeof value === 'number' && !Number.isFinite(value)) return unorderable;
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? itemsInOrder(value) : membersInOrder(value);
}

function itemsInOrder(items: Json[]): Json[] | typeof unorderable {
  let copy: Json[] | undefined;
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as Json;
    const ordered = inOrder(item);
    if (ordered === unorderable) return unorderable;
    if (ordered !== item) copy ??= items.slice();
    if (copy) copy[index] = ordered;
  }
  return copy ?? items;
}

/**
 * Objects keep the order in which members are set, except for names that look like array indexes, which come first, and
 * `__proto__`, which cannot be set like the others.
 */
function membersInOrder(members: JsonObject): JsonObject | typeof unorderable {
  const names = Object.keys(members);
  if (isDigit(names[0]?.charCodeAt(0))) return unorderable;
  let isOrdered = true;
  for (let index = 1; index < names.length && isOrdered; index++) {
    isOrdered = (names[index - 1] as string) < (names[index] as string);
  }
  let copy: JsonObject | undefined = isOrdered ? undefined : {};
  for (const name of isOrdered ? names : names.sort()) {
    if (name === '__proto__') return unorderable;
    const member = members[name] as Json;
    const ordered = inOrder(member);
    if (ordered === unorderable) return unorderable;
    if (ordered !== member) copy ??= { ...members };
    if (copy) copy[name] = ordered;
  }
  return copy ?? members;
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= 0x30 && code <= 0x39;
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
