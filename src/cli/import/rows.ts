import type { Row } from '../../import/row-reader.ts';
import type { Problem } from '../../import/station.ts';
import { isJsonObject, type Json } from '../../protocol/json.ts';
import type { JsonItems } from '../../protocol/json-items.ts';
import { CommandError } from '../command.ts';

export interface RowSource {
  columns: readonly string[];
  /** Yields undefined for an item that is not a row, and reports it. */
  rows(report: (problem: Problem) => void): AsyncIterable<Row | undefined> | Iterable<Row | undefined>;
}

export function featuresOf(document: Json): Json[] {
  return isJsonObject(document) && Array.isArray(document.features) ? document.features : [document].flat();
}

export const geoJsonLists = /^(?:features)?$/;

/** The properties of a feature are the cells; `feature.id` is its id. */
export function readGeoJson(features: JsonItems, file: string): RowSource {
  const columns = new Set<string>();
  let count = 0;
  for (const feature of features) {
    if (!isFeature(feature)) continue;
    count += 1;
    for (const column of Object.keys(feature.properties ?? {})) columns.add(column);
  }
  if (count === 0) throw new CommandError(`${file} is not GeoJSON: it has no feature.`);
  return {
    columns: [...columns],
    *rows(report) {
      let number = 0;
      for (const feature of features) {
        number += 1;
        const at = `feature ${number}`;
        if (!isFeature(feature)) report({ at, why: 'is not a GeoJSON feature', kind: 'left-out' });
        yield isFeature(feature) ? { at, cells: cellsOf(feature), geometry: feature.geometry } : undefined;
      }
    },
  };
}

interface Feature {
  id?: Json;
  properties?: { [name: string]: Json } | null;
  geometry: Json;
}

function isFeature(value: Json): value is Json & Feature {
  return isJsonObject(value) && value.type === 'Feature' && 'geometry' in value;
}

function cellsOf({ id, properties }: Feature): Map<string, string> {
  const members = Object.entries({ ...properties, ...(id !== undefined && { 'feature.id': id }) });
  const filled = members.filter(([, value]) => value !== null && value !== '');
  return new Map(
    filled.map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)]),
  );
}
