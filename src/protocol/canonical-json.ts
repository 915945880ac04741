import canonicalize from 'canonicalize';
import type { Json, JsonObject } from './json.ts';

/** The JSON Canonicalization Scheme (RFC 8785): one text for one JSON value. Signed files sign this text. */
export function canonicalJson(value: Json): string {
  const text = quickCanonicalJson(value) ?? canonicalize(value);
  if (text === undefined) throw new TypeError('only JSON values have a canonical form');
  return text;
}

/** JSON.stringify writes numbers and strings as RFC 8785 requires, and members in their order: enough for an ordered value, and several times faster. Undefined otherwise. */
function quickCanonicalJson(value: Json): string | undefined {
  const ordered = inOrder(value);
  const text = ordered === unorderable ? undefined : JSON.stringify(ordered);
  // An escaped surrogate may be a lone one, which has no canonical form.
  return text?.includes('\\ud') ? undefined : text;
}

const unorderable = Symbol('unorderable');

/** The value itself if its members are in order at every level, otherwise a copy. */
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

function membersInOrder(members: JsonObject): JsonObject | typeof unorderable {
  const order = orderOf(Object.keys(members));
  if (order === unorderable) return unorderable;
  let copy: JsonObject | undefined = order.isGiven ? undefined : {};
  for (const name of order.sorted) {
    const member = members[name] as Json;
    const ordered = inOrder(member);
    if (ordered === unorderable) return unorderable;
    if (ordered !== member) copy ??= { ...members };
    if (copy) copy[name] = ordered;
  }
  return copy ?? members;
}

interface Order {
  names: readonly string[];
  sorted: readonly string[];
  isGiven: boolean;
}

/** The thousands of objects in a catalog have a handful of lists of names: the last few are remembered by their first name. Names come from strangers, so this memory is bounded. */
const knownOrders = new Map<string, Order[]>();
const maxBeginnings = 1000;
const maxOrdersOfBeginning = 8;
const maxNames = 64;
const maxNameLength = 64;

function orderOf(names: readonly string[]): Order | typeof unorderable {
  const first = names[0] ?? '';
  const alike = knownOrders.get(first);
  if (alike) {
    for (const order of alike) if (areSame(order.names, names)) return order;
  }
  const order = makeOrder(names);
  if (order === unorderable || !isShort(names)) return order;
  if (alike) {
    if (alike.push(order) > maxOrdersOfBeginning) alike.shift();
  } else {
    if (knownOrders.size >= maxBeginnings) knownOrders.clear();
    knownOrders.set(first, [order]);
  }
  return order;
}

/** Objects keep the order in which members are set, except for names that look like array indexes, which come first, and `__proto__`, which cannot be set. */
function makeOrder(names: readonly string[]): Order | typeof unorderable {
  if (isDigit(names[0]?.charCodeAt(0)) || names.includes('__proto__')) return unorderable;
  const sorted = [...names].sort();
  return { names, sorted, isGiven: areSame(sorted, names) };
}

function isShort(names: readonly string[]): boolean {
  return names.length <= maxNames && names.every((name) => name.length <= maxNameLength);
}

function areSame(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) {
    if (one[index] !== other[index]) return false;
  }
  return true;
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= 0x30 && code <= 0x39;
}

export interface CanonicalForm {
  write(value: Json): string;
  /** Sorts in place. */
  sortNames(names: string[]): string[];
}

export const jcsForm: CanonicalForm = { write: canonicalJson, sortNames: (names) => names.sort() };

/** The form of `goCanonicalJson` for our own documents: they contain no `-0`, because JSON.stringify writes 0. */
export const goForm: CanonicalForm = { write: (value) => writeAsGo(value, '0'), sortNames: sortByBytes };

/**
 * The form of one deployed publisher, which uses Go's `encoding/json`. It differs from RFC 8785 in three ways: `&`, `<`, `>`, U+2028 and U+2029 are
 * escaped, names are sorted by their UTF-8 bytes, and `-0` keeps its sign.
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

/** By UTF-8 bytes, that is, by code points: differs from JavaScript's order only from the surrogates on. */
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
