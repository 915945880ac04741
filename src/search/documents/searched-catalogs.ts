import { type CatalogState, isSearched } from '../../rules/discover/served.ts';
import type { IndexReader } from '../cache/caches.ts';
import { catalogKeyOf } from './keys.ts';
import { readCatalogs } from './load-catalogs.ts';
import type { Scope } from './scope.ts';

// Filters candidates by scope: which of them belong to catalogs that are served in the network and schema context that was asked for. The states of all catalogs are cached
// (cache/catalog-table.ts).

/** Those of the keys that belong to searched catalogs, in their order. */
export async function findSearched(
  reader: IndexReader,
  keys: ArrayLike<number>,
  scope: Scope,
): Promise<Float64Array> {
  // Without waiting where all states are cached: meanwhile some could be invalidated.
  const { catalogs } = reader.caches;
  const searched = selectSearched((catalogKey) => catalogs.find(catalogKey), keys, scope);
  if (searched) return searched;
  const states = await findStates(reader, keys);
  return selectSearched((catalogKey) => states.get(catalogKey), keys, scope) ?? new Float64Array();
}

/** Undefined where nothing is known of one of the catalogs. */
function selectSearched(
  stateOf: (catalogKey: number) => CatalogState | null | undefined,
  keys: ArrayLike<number>,
  scope: Scope,
): Float64Array | undefined {
  const verdicts = new Map<CatalogState, boolean>();
  const searched = new Float64Array(keys.length);
  let count = 0;
  let catalogKey = Number.NaN;
  let last: CatalogState | null = null;
  let isIn = false;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as number;
    // Most stand beside others of their catalog, and most catalogs have the state of others.
    if (catalogKeyOf(key) !== catalogKey) {
      catalogKey = catalogKeyOf(key);
      const state = stateOf(catalogKey);
      if (state === undefined) return undefined;
      if (state !== last) {
        last = state;
        isIn = state !== null && (verdicts.get(state) ?? isSearched(state, scope, scope.now));
        if (state !== null) verdicts.set(state, isIn);
      }
    }
    if (isIn) searched[count++] = key;
  }
  return searched.subarray(0, count);
}

/** The states of the catalogs of all these keys, null where there is no such catalog; what is not cached is read. */
export async function findStates(
  reader: IndexReader,
  keys: ArrayLike<number>,
): Promise<Map<number, CatalogState | null>> {
  const { catalogs } = reader.caches;
  // Taken now: cached states may be invalidated while the others are read.
  const states = new Map<number, CatalogState | null>();
  const unknown = new Set<number>();
  for (let index = 0; index < keys.length; index++) {
    const catalogKey = catalogKeyOf(keys[index] as number);
    const state = catalogs.find(catalogKey);
    if (state === undefined) unknown.add(catalogKey);
    else states.set(catalogKey, state);
  }
  for (const [catalogKey, { state }] of await readCatalogs(reader, [...unknown]))
    states.set(catalogKey, catalogs.parseState(state));
  return states;
}
