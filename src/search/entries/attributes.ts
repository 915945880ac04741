import type { Json } from '../../protocol/json.ts';
import type { IndexPath } from '../../rules/filters/index-condition.ts';

// The entries of a document for filters: its values under their paths. Texts, booleans and null become facts, hashes of path and value. Numbers go into the column of their path, because filters ask for
// ranges. Another fact says that something is at a path, except for a number, whose column shows that. Array elements share one path. Catalogs, resources and offers have separate paths.
// "Any child" is usually an element of an array. If it may be a member of an object, the index cannot answer. So the paths at which any document has an object are stored.

/** The document in which a path begins. */
export type Level = 'catalog' | 'resource' | 'offer';

/** Characters: longer texts are rarely asked for by equality. Such a filter is evaluated. */
export const maxFactText = 1_000;

export interface AttributeEntries {
  facts: Set<number>;
  /** Values by the hash of their path. */
  numbers: Map<number, Set<number>>;
  /** Paths of objects. */
  objects: Set<string>;
}

export function attributeEntries(document: Json, level: Level): AttributeEntries {
  const entries: AttributeEntries = { facts: new Set(), numbers: new Map(), objects: new Set() };
  const root = rootOf(level);
  collect(document, root, feed(seed, root), entries);
  return entries;
}

/** Passes on the hash of the path, so that no path is hashed twice. */
function collect(value: Json, path: string, hash: HashState, entries: AttributeEntries): void {
  if (typeof value === 'number') {
    const number = finish(hash);
    const values = entries.numbers.get(number);
    if (values) values.add(value);
    else entries.numbers.set(number, new Set([value]));
    return;
  }
  if (path.length > 1) entries.facts.add(finish(feed(hash, presenceMark)));
  if (Array.isArray(value)) {
    const ofElements = feed(hash, elementMark);
    for (const element of value) collect(element, path + elementMark, ofElements, entries);
  } else if (typeof value === 'object' && value !== null) {
    if (path.length > 1) entries.objects.add(path);
    const ofMembers = feed(hash, memberMark);
    for (const [key, member] of Object.entries(value)) {
      const name = quoteMarked(key);
      collect(member as Json, path + memberMark + name, feed(ofMembers, name), entries);
    }
  } else if (typeof value !== 'string') {
    entries.facts.add(finish(feed(hash, `=${value}`)));
  } else if (value.length <= maxFactText) {
    entries.facts.add(finish(feed(feed(hash, '="'), value)));
  }
}

const memberMark = '\u0001';
const elementMark = '\u0002';
const presenceMark = '\u0003';

/** Quotes names that contain a mark. Otherwise a member could look like one below another. */
function quoteMarked(name: string): string {
  const isMarked = [memberMark, elementMark, presenceMark, '='].some((mark) => name.includes(mark));
  return isMarked ? JSON.stringify(name) : name;
}

/** One letter. */
function rootOf(level: Level): string {
  return level.charAt(0);
}

/** How to look an index path up. Treats every child as an element, which is correct unless some document has an object at one of the paths. */
export function lookupOf(path: IndexPath, level: Level): { path: string; unlessObjects: string[] } {
  let text = rootOf(level);
  const unlessObjects: string[] = [];
  for (const step of path) {
    if (step === 'child') unlessObjects.push(text);
    text += typeof step === 'object' ? memberMark + quoteMarked(step.name) : elementMark;
  }
  return { path: text, unlessObjects };
}

export function valueFact(path: string, value: string | boolean | null): number {
  return hash53(`${path}=${typeof value === 'string' ? `"${value}` : value}`);
}

/** The fact that a value other than a number is at the path. */
export function presenceFact(path: string): number {
  return hash53(path + presenceMark);
}

/** 53 bits, not cryptographic: two multiplicative hashes in parallel. */
export function hash53(text: string): number {
  return finish(feed(seed, text));
}

interface HashState {
  high: number;
  low: number;
}

const seed: HashState = { high: 0xdeadbeef, low: 0x41c6ce57 };

function feed({ high, low }: HashState, text: string): HashState {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 0x9e3779b1);
    low = Math.imul(low ^ unit, 0x5f356495);
  }
  return { high, low };
}

function finish({ high, low }: HashState): number {
  const a = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  const b = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (b >>> 11) * 0x1_0000_0000 + (a >>> 0);
}
