import { hash } from 'node:crypto';
import type { Geometry } from '../../protocol/geojson.ts';
import { isSearched } from '../../rules/discover/served.ts';
import { type MapBox, mapBox, wrapLongitude } from '../../rules/geometry/map-box.ts';
import { pointOf } from '../../rules/geometry/sphere-box.ts';
import type { WordWeights } from '../../rules/text/word-weights.ts';
import type { Stored } from '../confirm/read-subjects.ts';
import { hash53, type Level } from '../entries/attributes.ts';
import { type DocumentEntries, entriesOfDocument } from '../entries/document-entries.ts';
import type { IndexFormat } from '../entries/index-format.ts';
import { catalogKeyOf, kindOf } from '../keys.ts';
import { columnList } from '../lists/list-numbers.ts';
import { anyPlace, placeSlots } from './indexes.ts';

// A document of the index: a resource has everything that it is found by. Heads, offers and unsearched resources only have words, for rarity.

export interface IndexDocument {
  /** Its own words. */
  words: readonly string[];
  text: string;
}

/** The part of a resource's index document that comes from one stored document. */
interface Part {
  words: WordWeights;
  /** Terms separated by spaces: OpenSearch indexes a text faster than a list. */
  facts: string;
  numbers: string[];
  places: [field: string, value: unknown][];
  paths: string[];
}

/** A digest of everything that a document is made of: whether the index has the document is known without making it. */
export function digestOf({ digest, subject }: Stored, { version }: IndexFormat, now: Date): number {
  const { digest: own = digest, home, offers = [], until } = subject ?? {};
  const around = home && [
    ...[until, isSearched(home.state, {}, now), home.digest, home.state.networkIds],
    ...[[...home.state.schemaTypes], offers.map((offer) => [offer.key, offer.digest])],
  ];
  const all = JSON.stringify([documentVersion, version, own, around]);
  // This many digits are an exact number.
  return Number.parseInt(hash('sha256', all).slice(0, 13), 16);
}

/** Raise it with each change of this file, or of the mappings, that makes other documents: then all of them differ. */
const documentVersion = 2;

/** Makes the documents of catalogs, resources and offers. Caches the parts of catalogs and offers, by digest: they may change between two reads. */
export function createDocuments(format: IndexFormat, now: Date) {
  const known = new Map<string, Part>();
  const partOf = (level: Level, { key, digest }: { key: number; digest: number }, document: object) => {
    const name = `${key} ${digest}`;
    const part = known.get(name) ?? describe(format, entriesOfDocument(format, level, document));
    if (level !== 'resource') known.set(name, part);
    return part;
  };
  return (stored: Stored): IndexDocument => {
    const { key, text, subject } = stored;
    const own = partOf(kindOf(key), stored, (subject?.resource as object) ?? JSON.parse(text));
    const words = [...own.words.keys()];
    const digest = digestOf(stored, format, now);
    const base = { key, digest, catalog: catalogKeyOf(key), own: words.join(' ') };
    const build = (rest: object = {}, parts: readonly Part[] = []): IndexDocument => {
      return { words, text: `${JSON.stringify({ ...base, ...rest }).slice(0, -1)},"words":${weigh(parts)}}` };
    };
    if (subject === undefined) return build();
    const { home, offers, until } = subject;
    const change = Number.isFinite(until) && { until };
    if (!isSearched(home.state, {}, now)) return build({ ...change });
    const parts = [
      own,
      partOf('catalog', home, home.head),
      ...offers.map((each) => partOf('offer', each, each.offer)),
    ];
    const { networkIds, schemaTypes } = home.state;
    const networks = networkIds.length === 0 ? [everyNetwork] : networkIds;
    return build({ ...change, ...found(parts), live: true, networks, schemas: [...schemaTypes] }, parts);
  };
}

function describe(format: IndexFormat, { words, geometries, ...entries }: DocumentEntries): Part {
  const paths = [...new Set(geometries.map(({ path }) => path))];
  const facts = [...entries.facts, ...Array.from(entries.objects, objectFact), ...paths.map(placeFact)];
  const numbers = [...entries.numbers].flatMap(([path, values]) =>
    Array.from(values, (value) => numberText(columnList(path), value)),
  );
  const places = geometries.flatMap(({ path, geometry }) =>
    [slotOf(path), anyPlace].flatMap((slot) => placeFields(format, slot, geometry)),
  );
  return { words, facts: facts.join(' '), numbers, places, paths };
}

/** JSON text: letters and digits need no escapes. */
function weigh(parts: readonly Part[]): string {
  const most = new Map(parts[0]?.words);
  for (const { words } of parts.slice(1))
    for (const [word, weight] of words) if ((most.get(word) ?? 0) < weight) most.set(word, weight);
  return `{${Array.from(most, ([word, weight]) => `"${word}":${Math.round(weight * 100)}`).join()}}`;
}

/** Not a valid network id. */
export const everyNetwork = '*';

function found(parts: readonly Part[]) {
  const places: Record<string, unknown[]> = {};
  for (const [field, value] of parts.flatMap((part) => part.places))
    places[field] = [...(places[field] ?? []), value];
  const slots = [...new Set(parts.flatMap(({ paths }) => paths))].map(slotOf);
  // A measured distance could be that of another path.
  for (const slot of slots.filter((each, index) => slots.indexOf(each) < index))
    places[`wide_${slot}`] = places[`wide_${anyPlace}`] = [1];
  const facts = parts.map((part) => part.facts).join(' ');
  return { facts, numbers: parts.flatMap(({ numbers }) => numbers), ...places };
}

/** A point is measured. Other geometries are found by their box, and come before all measured points, because their distance is unknown. */
function placeFields(format: IndexFormat, slot: number | string, geometry: Geometry): Part['places'] {
  if (geometry.type === 'Point' && pointOf(geometry)) {
    const [longitude = 0, latitude = 0] = geometry.coordinates;
    return [[`at_${slot}`, [wrapLongitude(longitude), latitude]]];
  }
  const area = envelopeOf(mapBox(format.geometries.boxOf(geometry)));
  return Object.entries({ [`area_${slot}`]: area, [`wide_${slot}`]: 1 });
}

export function envelopeOf({ west, north, east, south }: MapBox): object {
  const topLeft = [west, north];
  const bottomRight = [east, south];
  return { type: 'envelope', coordinates: [topLeft, bottomRight] };
}

export function slotOf(path: string): number {
  return hash53(path) % placeSlots;
}

/** Some document has an object at the path (entries/object-paths.ts). */
export function objectFact(path: string): string {
  return `${hash53(`${path}\u0004`)}`;
}

/** The document has a geometry at the path. */
export function placeFact(path: string): string {
  return `${hash53(`${path}\u0005`)}`;
}

/** A number under a path as an address of 16 bytes, in numeric order: a byte that other addresses lack, seven of the column, eight of the number. */
export function numberText(column: number, value: number): string {
  const bytes = new DataView(new ArrayBuffer(16));
  bytes.setBigUint64(0, BigInt(-column));
  bytes.setUint8(0, 0x20);
  bytes.setFloat64(8, value + 0);
  const bits = bytes.getBigUint64(8);
  bytes.setBigUint64(8, value < 0 ? ~bits : bits | (1n << 63n));
  return Array.from({ length: 8 }, (_, index) => bytes.getUint16(index * 2).toString(16)).join(':');
}
