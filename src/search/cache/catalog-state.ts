import type { CatalogState } from '../../rules/discover/served.ts';
import { readPeriod, validityText } from '../validity.ts';

// What decides whether a catalog is searched, as the database writes it: the same text for all catalogs that have it in common.

export const stateText = `json_build_array(type, is_active and served, networks, schema_types, ${validityText()})::text`;

/** What it is made of. */
export const stateColumns =
  'type, is_active, served, networks, schema_types, valid_from, valid_until, window_start, window_length';

type StateColumns = [
  type: CatalogState['type'],
  isActive: boolean,
  networkIds: string[],
  schemaTypes: string[],
  validity: string | null,
];

export function parseState(text: string): CatalogState {
  const [type, isActive, networkIds, schemaTypes, validity]: StateColumns = JSON.parse(text);
  return { type, isActive, networkIds, schemaTypes: new Set(schemaTypes), validity: readPeriod(validity) };
}
