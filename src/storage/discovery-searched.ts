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
  const states = await findStates(queryable, keys);
  const verdicts = new Map<CatalogState | undefined, boolean>([[undefined, false]]);
  const searched = new Float64Array(keys.length);
  let count = 0;
  for (const [index, state] of states.entries()) {
    let verdict = verdicts.get(state);
    if (verdict === undefined && state) {
      verdict = isSearched(state, gate, gate.now);
      verdicts.set(state, verdict);
    }
    if (verdict) searched[count++] = keys[index] as number;
  }
  return searched.subarray(0, count);
}

/** The state of the catalog of each key; what is not known is read. */
async function findStates(
  queryable: Queryable,
  keys: ArrayLike<number>,
): Promise<(CatalogState | undefined)[]> {
  // Taken now: what is known may be forgotten while the rest is read.
  const known = knownCatalogs(queryable);
  const states: (CatalogState | undefined)[] = [];
  const unknown: { index: number; catalogKey: number }[] = [];
  for (let index = 0; index < keys.length; index++) {
    const catalogKey = catalogKeyOf(keys[index] as number);
    const state = known.get(catalogKey);
    states.push(state);
    if (state === undefined && !known.has(catalogKey)) unknown.push({ index, catalogKey });
  }
  if (unknown.length === 0) return states;
  const wanted = [...new Set(unknown.map(({ catalogKey }) => catalogKey))];
  const { found, mayKeep } = await readToKeep(queryable, () => readStates(queryable, wanted));
  if (mayKeep) keepCatalogs(queryable, found);
  for (const { index, catalogKey } of unknown) states[index] = found.get(catalogKey);
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
