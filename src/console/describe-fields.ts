import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';
import type { Field } from './answers/find.ts';

// The fields to filter by, from a sample of documents: their paths, kinds and values. Pure.

const maxFields = 40;
const maxDepth = 8;
const maxValues = 24;
const maxValueLength = 60;
/** Members that contain the unit of a sibling number. */
const unitNames = ['unit', 'unitCode', 'unitText', 'currency'];
/** Names of containers that mean nothing to users. */
const silentNames = [
  'resourceAttributes',
  'offerAttributes',
  'considerationAttributes',
  'attributes',
  'value',
];

/** Members with single values below `roots` of each document, the most frequent first. */
export function describeFields(documents: readonly JsonObject[], roots: readonly string[]): Field[] {
  const seen = new Map<string, Seen>();
  for (const document of documents) {
    for (const root of roots) {
      const value = document[root];
      if (value !== undefined) collect(seen, value as Json, ['@', `.${root}`]);
    }
  }
  return [...seen.values()]
    .filter((each) => !isUnit(each, seen) && !isTheSameEverywhere(each, documents.length))
    .sort((a, b) => b.count - a.count)
    .map(describe)
    .sort((a, b) => rankField(b) - rankField(a))
    .slice(0, maxFields);
}

interface Seen {
  steps: readonly string[];
  count: number;
  texts: Map<string, number>;
  numbers: { min: number; max: number; count: number };
  booleans: number;
  units: Map<string, number>;
}

function collect(seen: Map<string, Seen>, value: Json, steps: readonly string[], parent?: JsonObject): void {
  if (steps.length > maxDepth) return;
  if (Array.isArray(value)) {
    for (const element of value) collect(seen, element, [...steps, '[*]']);
  } else if (isJsonObject(value)) {
    if (isGeometry(value)) return;
    for (const [name, member] of Object.entries(value))
      if (/^[A-Za-z_]\w*$/.test(name) && name !== 'id')
        collect(seen, member as Json, [...steps, `.${name}`], value);
  } else if (value !== null) note(seen, value, steps, parent);
}

function isGeometry(value: JsonObject): boolean {
  return 'type' in value && ('coordinates' in value || 'geometries' in value);
}

function note(
  seen: Map<string, Seen>,
  value: string | number | boolean,
  steps: readonly string[],
  parent: JsonObject | undefined,
): void {
  const path = steps.join('');
  const known: Seen = seen.get(path) ?? {
    ...{ steps, count: 0, texts: new Map(), booleans: 0, units: new Map() },
    numbers: { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY, count: 0 },
  };
  seen.set(path, known);
  known.count += 1;
  if (typeof value === 'string') add(known.texts, value);
  else if (typeof value === 'boolean') known.booleans += 1;
  else {
    const { numbers } = known;
    numbers.count += 1;
    numbers.min = Math.min(numbers.min, value);
    numbers.max = Math.max(numbers.max, value);
    const unit = unitNames.map((name) => parent?.[name]).find((text) => typeof text === 'string');
    if (typeof unit === 'string') add(known.units, unit);
  }
}

function add(counts: Map<string, number>, text: string): void {
  counts.set(text, (counts.get(text) ?? 0) + 1);
}

/** A unit is shown with its number. A currency becomes a separate filter if there are several. */
function isUnit({ steps, texts }: Seen, seen: ReadonlyMap<string, Seen>): boolean {
  const name = steps.at(-1)?.slice(1) ?? '';
  if (!unitNames.includes(name) || texts.size > 1) return false;
  const beside = steps.slice(0, -1).join('');
  return [...seen.values()].some(
    (other) => other.units.size > 0 && other.steps.slice(0, -1).join('') === beside,
  );
}

/** A field with the same value in nearly every document is no filter, because there is nothing to choose. */
function isTheSameEverywhere({ count, texts }: Seen, documents: number): boolean {
  return texts.size === 1 && documents > 1 && count >= documents * almostAll;
}

const almostAll = 0.9;

/** Sorts the filters: kinds and amounts first, then addresses, then free text. */
function rankField({ kind, path }: Field): number {
  if (kind === 'text') return 0;
  return /address/i.test(path) ? 1 : 2;
}

function describe({ steps, count, texts, numbers, booleans, units }: Seen): Field {
  const common = { path: steps.join(''), label: labelOf(steps) };
  if (booleans === count) return { ...common, kind: 'boolean' };
  if (numbers.count === count) {
    const [unit, ...others] = sortByCount(units);
    const { min, max } = numbers;
    return { ...common, kind: 'number', ...(unit && others.length === 0 && { unit: unit.value }), min, max };
  }
  const values = sortByCount(texts);
  const isShort = values.every(({ value }) => value.length <= maxValueLength);
  // Names and ids differ everywhere; kinds recur.
  const recurs = values.length <= maxValues && (values.length * 2 <= count || values.length <= 2);
  return recurs && isShort ? { ...common, kind: 'enum', values } : { ...common, kind: 'text' };
}

function sortByCount(counts: ReadonlyMap<string, number>): { value: string; count: number }[] {
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

function labelOf(steps: readonly string[]): string {
  const names = steps.filter((step) => step.startsWith('.')).map((step) => step.slice(1));
  const telling = names.filter((name) => !silentNames.includes(name));
  const [holder = '', last] = (telling.length === 0 ? names : telling).slice(-2);
  if (last === undefined) return sentenceCase(splitWords(holder));
  const isRepeated = last.toLowerCase().includes(holder.toLowerCase());
  return sentenceCase([...(isRepeated ? [] : [holder]), last].map(splitWords).join(' '));
}

/** `EnergyResourceEVCharger` is "Energy resource EV charger". */
export function sentenceCase(words: string): string {
  const lower = words.replace(/\b[A-Z](?=[a-z])/g, (letter) => letter.toLowerCase());
  return lower.charAt(0).toUpperCase() + lower.slice(1);
}

export function splitWords(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ');
}
