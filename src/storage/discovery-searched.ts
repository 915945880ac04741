import { type CatalogState, isSearched } from '../rules/discover/served.ts';
import { bigintArray } from './binary-arrays.ts';
import type { Queryable } from './database.ts';
import type { Gate } from './discovery-gate.ts';
import { catalogKeyOf } from './discovery-keys.ts';
import { keepCatalogs, knownCatalogs, readToKeep, sharedState } from './index-memory.ts';
import { readPeriod, validityText } from './validity-text.ts';

// Which candidates belong to catalogs that a search looks at. A process knows the states of the catalogs that it has met (index-memory.ts): thousands
// of candidates are told apart without a word to the database.

/** Those of the keys that belong to searched catalogs, in their order. */
export async function findSearched(
  queryable: Queryable,
  keys: ArrayLike<number>,
  gate: Gate,
): Promise<Float64Array> {
  const known = knownCatalogs(queryable);
  const unknown = findUnknown(known, keys);
  // Without waiting where all are known: meanwhile some could be forgotten.
  const states = unknown.size === 0 ? known : await findStates(queryable, keys, unknown);
  const verdicts = new Map<CatalogState | undefined, boolean>([[undefined, false]]);
  const searched = new Float64Array(keys.length);
  let count = 0;
  let [catalogKey, isIn] = [Number.NaN, false];
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as number;
    // Most stand beside others of their catalog.
    if (catalogKeyOf(key) !== catalogKey) {
      catalogKey = catalogKeyOf(key);
      const state = states.get(catalogKey);
      isIn = verdicts.get(state) ?? (state !== undefined && isSearched(state, gate, gate.now));
      verdicts.set(state, isIn);
    }
    if (isIn) searched[count++] = key;
  }
  return searched.subarray(0, count);
}

function findUnknown(known: ReadonlyMap<number, unknown>, keys: ArrayLike<number>): Set<number> {
  const unknown = new Set<number>();
  let last = Number.NaN;
  for (let index = 0; index < keys.length; index++) {
    const catalogKey = catalogKeyOf(keys[index] as number);
    if (catalogKey !== last && !known.has(catalogKey)) unknown.add(catalogKey);
    last = catalogKey;
  }
  return unknown;
}

/** The states of the catalogs of these keys, some of which are read. */
async function findStates(
  queryable: Queryable,
  keys: ArrayLike<number>,
  unknown: ReadonlySet<number>,
): Promise<Map<number, CatalogState | undefined>> {
  const known = knownCatalogs(queryable);
  // Taken now: what is known may be forgotten while the rest is read.
  const states = new Map<number, CatalogState | undefined>();
  for (let index = 0; index < keys.length; index++) {
    const catalogKey = catalogKeyOf(keys[index] as number);
    states.set(catalogKey, known.get(catalogKey));
  }
  const { found, mayKeep } = await readToKeep(queryable, () => readStates(queryable, [...unknown]));
  if (mayKeep) keepCatalogs(queryable, found);
  for (const [catalogKey, state] of found) states.set(catalogKey, state);
  return states;
}

async function readStates(
  queryable: Queryable,
  keys: readonly number[],
): Promise<Map<number, CatalogState | undefined>> {
  const { rows } = await queryable.query<{ key: number; state: string }>(
    `select key, json_build_array(type, is_active and served, networks, schema_types, ${validityText})::text as state
     from discovery.catalog where key = any ($1::bigint[])`,
    [bigintArray(keys)],
    { prepared: true },
  );
  const states = new Map<number, CatalogState | undefined>(keys.map((key) => [key, undefined]));
  for (const { key, state } of rows) {
    const parse = () => stateOf(JSON.parse(state));
    states.set(key, sharedState(queryable, state, parse));
  }
  return states;
}

type StateColumns = [
  type: CatalogState['type'],
  isActive: boolean,
  networkIds: string[],
  schemaTypes: string[],
  validity: string | null,
];

function stateOf([type, isActive, networkIds, schemaTypes, validity]: StateColumns): CatalogState {
  return { type, isActive, networkIds, schemaTypes: new Set(schemaTypes), validity: readPeriod(validity) };
}
