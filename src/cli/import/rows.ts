import type { Row } from '../../import/row-reader.ts';
import type { Problem } from '../../import/station.ts';
import { isJsonObject, type Json } from '../../protocol/json.ts';
import { CommandError } from '../command.ts';

/** Where rows come from: a CSV list (csv.ts), or the features of a GeoJSON. */
export interface RowSource {
  /** What rows may have cells for. */
  columns: readonly string[];
  /** Undefined for what is there and is no row; then it is reported. */
  rows(report: (problem: Problem) => void): AsyncIterable<Row | undefined> | Iterable<Row | undefined>;
}

/** A FeatureCollection, an array of features or one feature. Its properties are the cells, `feature.id` is its own id. */
export function readGeoJson(document: Json, file: string): RowSource {
  const features =
    isJsonObject(document) && Array.isArray(document.features) ? document.features : [document].flat();
  const known = features.filter(isFeature);
  if (known.length === 0) throw new CommandError(`${file} is no GeoJSON: there is no feature in it.`);
  return {
    columns: [...new Set(known.flatMap(({ properties }) => Object.keys(properties ?? {})))],
    *rows(report) {
      for (const [index, feature] of features.entries()) {
        const at = `feature ${index + 1}`;
        if (!isFeature(feature)) report({ at, why: 'is no GeoJSON feature', kind: 'left-out' });
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
