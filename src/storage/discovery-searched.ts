import { type CatalogState, isSearched } from '../rules/discover/served.ts';
import { bigintArray } from './binary-arrays.ts';
import type { Queryable } from './database.ts';
import type { Gate } from './discovery-gate.ts';
import { catalogKeyOf } from './discovery-keys.ts';
import { keepCatalogs, knownCatalogs, readToKeep, sharedState } from './index-memory.ts';

// Which candidates belong to catalogs that a search looks at. A process knows the states of the catalogs that it has met (index-memory.ts): thousands
// of candidates are told apart without a word to the database.

/** Those of the keys that belong to searched catalogs, in their order. */
export async function findSearched(
  queryable: Queryable,
  keys: ArrayLike<number>,
  gate: Gate,
): Promise<Float64Array> {
  const stateOf = await findStates(queryable, keys);
  const verdicts = new Map<CatalogState | undefined, boolean>([[undefined, false]]);
  const isOpen = (state: CatalogState | undefined): boolean => {
    const known = verdicts.get(state);
    if (known !== undefined || state === undefined) return known ?? false;
    const verdict = isSearched(state, gate, gate.now);
    verdicts.set(state, verdict);
    return verdict;
  };
  return Float64Array.from(keys).filter((key) => isOpen(stateOf(catalogKeyOf(key))));
}

/** What is known of the catalogs of these keys, and what is not is read. */
async function findStates(
  queryable: Queryable,
  keys: ArrayLike<number>,
): Promise<(catalogKey: number) => CatalogState | undefined> {
  const known = knownCatalogs(queryable);
  const unknown = new Set<number>();
  for (let index = 0; index < keys.length; index++) {
    const catalogKey = catalogKeyOf(keys[index] as number);
    if (!known.has(catalogKey)) unknown.add(catalogKey);
  }
  if (unknown.size === 0) return (key) => known.get(key);
  const read = () => readStates(queryable, [...unknown]);
  const { found, mayKeep } = await readToKeep(queryable, read);
  if (mayKeep) keepCatalogs(queryable, found);
  return (key) => (found.has(key) ? found.get(key) : known.get(key));
}

async function readStates(
  queryable: Queryable,
  keys: readonly number[],
): Promise<Map<number, CatalogState | undefined>> {
  const { rows } = await queryable.query<{ key: number; state: string }>(
    `select key, json_build_array(type, is_active and served, networks, schema_types,
       extract(epoch from valid_from) * 1000, extract(epoch from valid_until) * 1000, window_start, window_length)::text as state
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
  from: number | null,
  until: number | null,
  windowStart: number | null,
  windowLength: number | null,
];

function stateOf([
  type,
  isActive,
  networkIds,
  schemaTypes,
  from,
  until,
  start,
  length,
]: StateColumns): CatalogState {
  return {
    ...{ type, isActive, networkIds, schemaTypes: new Set(schemaTypes) },
    validity: {
      ...(from !== null && { from: new Date(from) }),
      ...(until !== null && { until: new Date(until) }),
      ...(start !== null && length !== null && { window: { start, length } }),
    },
  };
}
