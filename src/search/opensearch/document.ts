import { hash } from 'node:crypto';
import type { Geometry } from '../../protocol/geojson.ts';
import { isSearched } from '../../rules/discover/served.ts';
import { type MapBox, mapBox, wrapLongitude } from '../../rules/geometry/map-box.ts';
import { pointOf } from '../../rules/geometry/sphere-box.ts';
import type { Subject } from '../confirm/read-subjects.ts';
import { hash53, type Level } from '../entries/attributes.ts';
import { type DocumentEntries, entriesOfDocument } from '../entries/document-entries.ts';
import type { IndexFormat } from '../entries/index-format.ts';
import { catalogKeyOf, headOf, kindOf } from '../keys.ts';
import { columnList } from '../lists/list-numbers.ts';
import { anyPlace, placeSlots } from './indexes.ts';

// A document of the index. A resource has everything that it is found by. Heads, offers, and resources that no search looks at have their words alone: in how many documents a word stands decides its rarity.

export interface IndexDocument {
  key: number;
  digest: number;
  /** Its own. */
  words: readonly string[];
  /** JSON. */
  text: string;
}

interface Entries extends Omit<DocumentEntries, 'facts'> {
  /** Terms with spaces between them: OpenSearch indexes a text many times as fast as a list. */
  facts: string;
}

/** Makes the documents of catalogs, resources and offers, which may belong to the same few catalogs. */
export function createDocuments(format: IndexFormat, now: Date) {
  const known = new Map<number, Entries>();
  const entriesOf = (level: Level, key: number, document: object) => {
    const entries = known.get(key) ?? describe(entriesOfDocument(format, level, document));
    if (level !== 'resource') known.set(key, entries);
    return entries;
  };
  return (key: number, content: object, subject?: Subject): IndexDocument => {
    const own = entriesOf(kindOf(key), key, content);
    const words = [...own.words.keys()];
    const base = { catalog: catalogKeyOf(key), own: words.join(' ') };
    const build = (rest: object = {}): IndexDocument => {
      const content = JSON.stringify({ key, ...base, ...rest });
      const digest = hash('sha256', content, 'buffer').readUIntBE(0, 6);
      return { key, digest, words, text: `{"digest":${digest},${content.slice(1)}` };
    };
    if (subject === undefined) return build();
    const { home, offers, until } = subject;
    const until_ = Number.isFinite(until) ? { until } : {};
    if (!isSearched(home.state, {}, now)) return build(until_);
    const parts = [
      own,
      entriesOf('catalog', headOf(key), home.head),
      ...offers.map(({ key: offerKey, offer }) => entriesOf('offer', offerKey, offer)),
    ];
    return build({ ...until_, ...found(format, parts), live: true, ...scopeOf(home.state) });
  };
}

function describe(entries: DocumentEntries): Entries {
  const facts = [
    ...Array.from(entries.facts, factText),
    ...Array.from(entries.objects, objectFact),
    ...new Set(entries.geometries.map(({ path }) => placeFact(path))),
  ];
  return { ...entries, facts: facts.join(' ') };
}

function scopeOf({ networkIds, schemaTypes }: Subject['home']['state']) {
  return { networks: networkIds.length === 0 ? [everyNetwork] : networkIds, schemas: [...schemaTypes] };
}

/** No id of a network. */
export const everyNetwork = '*';

function found(format: IndexFormat, parts: readonly Entries[]) {
  const [numbers, words] = [new Set<string>(), new Map<string, number>()];
  const places: Record<string, unknown[]> = {};
  for (const part of parts) {
    for (const [path, values] of part.numbers)
      for (const value of values) numbers.add(numberText(columnList(path), value));
    for (const [word, weight] of part.words)
      words.set(word, Math.max(words.get(word) ?? 0, Math.round(weight * 100)));
    for (const { path, geometry } of part.geometries)
      for (const slot of [slotOf(path), anyPlace]) addPlace(format, places, slot, geometry);
  }
  const facts = parts.map((part) => part.facts).join(' ');
  return { facts, numbers: [...numbers], words: Object.fromEntries(words), ...places };
}

/** A point is measured. Of anything else the box leads to it, and it comes before all that is measured: nobody knows how near it is. */
function addPlace(
  format: IndexFormat,
  places: Record<string, unknown[]>,
  slot: number | string,
  geometry: Geometry,
): void {
  const add = (field: string, value: unknown) => {
    const values = places[`${field}_${slot}`] ?? [];
    places[`${field}_${slot}`] = values;
    values.push(value);
  };
  if (geometry.type === 'Point' && pointOf(geometry)) {
    const [longitude = 0, latitude = 0] = geometry.coordinates;
    add('at', [wrapLongitude(longitude), latitude]);
    return;
  }
  add('area', envelopeOf(mapBox(format.geometries.boxOf(geometry))));
  places[`wide_${slot}`] = [1];
}

export function envelopeOf({ west, north, east, south }: MapBox): object {
  return {
    type: 'envelope',
    coordinates: [
      [west, north],
      [east, south],
    ],
  };
}

export function slotOf(path: string): number {
  return hash53(path) % placeSlots;
}

export function factText(fact: number): string {
  return `${fact}`;
}

/** Some document has an object at the path (entries/object-paths.ts). */
export function objectFact(path: string): string {
  return factText(hash53(`${path}\u0004`));
}

/** A geometry stands at the path. */
export function placeFact(path: string): string {
  return factText(hash53(`${path}\u0005`));
}

/** A number under a path as an address of 16 bytes, in the order of numbers: seven bytes of the column, after one that no other use of such addresses has, and eight of the number. */
export function numberText(column: number, value: number): string {
  const bytes = new DataView(new ArrayBuffer(16));
  bytes.setBigUint64(0, BigInt(-column));
  bytes.setUint8(0, firstByte);
  bytes.setFloat64(8, value + 0);
  const bits = bytes.getBigUint64(8);
  bytes.setBigUint64(8, value < 0 ? ~bits : bits | signBit);
  return Array.from({ length: 8 }, (_, index) => bytes.getUint16(index * 2).toString(16)).join(':');
}

const firstByte = 0x20;
const signBit = 1n << 63n;
