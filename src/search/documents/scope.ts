import { type CatalogState, isSearched } from '../../rules/discover/served.ts';
import { bigintArray } from '../../storage/binary-arrays.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import { type CatalogEntry, maxCounted, stateText } from '../cache/catalog-table.ts';
import { refreshCaches } from '../cache/invalidation.ts';
import { catalogKeyOf, firstNumbers } from '../keys.ts';
import { checkedBy, type DocSet } from '../set/doc-set.ts';
import type { Keys } from '../set/sorted.ts';

// The scope of a search: which catalogs it searches (rules/discover/served.ts), from their cached states (cache/catalog-table.ts).

export interface Scope {
  now: Date;
  networkId?: string;
  /** Schema context URIs. The catalog must use one of them; empty: all catalogs. */
  schemaContext: readonly string[];
}

/** Keys of a set that belong to searched catalogs. */
export function inScope(reader: IndexReader, set: DocSet, scope: Scope): DocSet {
  return checkedBy(set, (keys) => selectSearched(reader, keys, scope));
}

/** Selects the keys that belong to searched catalogs, in their order. */
export async function selectSearched(reader: IndexReader, keys: Keys, scope: Scope): Promise<Keys> {
  const { catalogs } = reader.caches;
  // Select without waiting if all states are cached: during a wait, some could be invalidated.
  const searched = select((catalogKey) => catalogs.find(catalogKey), keys, scope);
  if (searched) return searched;
  const states = await findStates(reader, keys);
  return select((catalogKey) => states.get(catalogKey) ?? null, keys, scope) ?? new Float64Array();
}

/** Undefined if the state of a catalog is unknown. */
function select(stateOf: (catalogKey: number) => CatalogState | null | undefined, keys: Keys, scope: Scope) {
  const verdicts = new Map<CatalogState, boolean>();
  const searched = new Float64Array(keys.length);
  let count = 0;
  let catalogKey = Number.NaN;
  let isIn = false;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as number;
    // Most keys follow others of their catalog, and most catalogs share their state with others.
    if (catalogKeyOf(key) !== catalogKey) {
      catalogKey = catalogKeyOf(key);
      const state = stateOf(catalogKey);
      if (state === undefined) return undefined;
      isIn = state !== null && (verdicts.get(state) ?? isSearched(state, scope, scope.now));
      if (state !== null) verdicts.set(state, isIn);
    }
    if (isIn) searched[count++] = key;
  }
  return count === keys.length ? keys : searched.subarray(0, count);
}

/** The states of the catalogs of these keys; null if the catalog does not exist. Reads the states that are not cached. */
export async function findStates(reader: IndexReader, keys: Keys): Promise<Map<number, CatalogState | null>> {
  const { catalogs } = reader.caches;
  // Copied now, because cached states may be invalidated while the others are read.
  const states = new Map<number, CatalogState | null>();
  const unknown = new Set<number>();
  for (const key of keys) {
    const catalogKey = catalogKeyOf(key);
    const state = catalogs.find(catalogKey);
    if (state === undefined) unknown.add(catalogKey);
    else states.set(catalogKey, state);
  }
  for (const [catalogKey, { state }] of await readCatalogs(reader, [...unknown]))
    states.set(catalogKey, catalogs.parseState(state));
  return states;
}

/** One statement reads these in some milliseconds, so searches wait no longer than that. */
const catalogsAtOnce = 1_000;

/** Loads all catalogs that are not loaded yet, until the signal. */
export async function loadCatalogs(reader: IndexReader, signal?: AbortSignal): Promise<void> {
  const { catalogs } = reader.caches;
  await refreshCaches(reader, { mayLag: true });
  const nextKeys = `key > $1 order by key limit ${catalogsAtOnce}`;
  while (catalogs.loadedUpTo < catalogs.limit && !signal?.aborted) {
    const { found, mayKeep } = await readEntries(reader, nextKeys, catalogs.loadedUpTo);
    if (mayKeep)
      catalogs.loadedUpTo = found.size < catalogsAtOnce ? catalogs.limit : Math.max(...found.keys());
  }
}

/** Missing catalogs have no state. */
export async function readCatalogs(reader: IndexReader, keys: readonly number[]) {
  if (keys.length === 0) return new Map<number, CatalogEntry>();
  const { found, mayKeep } = await readEntries(reader, 'key = any ($1::bigint[])', bigintArray(keys));
  for (const key of keys) {
    if (found.has(key)) continue;
    found.set(key, { state: null, resources: 0 });
    if (mayKeep) reader.caches.catalogs.keep(key, { state: null, resources: 0 });
  }
  return found;
}

interface CatalogRow {
  key: number;
  state: string;
  /** Number of resources, up to one above the maximum, and the number of the last of these. */
  count: number;
  last: number;
}

async function readEntries(reader: IndexReader, which: string, parameter: number | Buffer) {
  // States of catalogs are independent of the generation of the index.
  const { caches } = reader;
  const { found: entries, mayKeep } = await readForCache({ caches }, async () => {
    const rows = await reader.rows<CatalogRow>(
      `select key, ${stateText} as state, count, last from (select * from discovery.catalog where ${which}) as catalog
       cross join lateral (
         select count(*) as count, coalesce(max(member.key) & ${firstNumbers.offer - 1}, 0) as last from (
           select resource.key from discovery.resource
           where resource.key > catalog.key << 26 and resource.key < (catalog.key << 26) + ${firstNumbers.offer}
           order by resource.key limit ${maxCounted + 1}
         ) as member
       ) as members`,
      [parameter],
      { prepared: true },
    );
    return rows.map(({ key, state, count, last }): [number, CatalogEntry] => [
      key,
      { state, resources: last === count && count <= maxCounted ? count : undefined },
    ]);
  });
  if (mayKeep) for (const [key, entry] of entries) caches.catalogs.keep(key, entry);
  return { found: new Map(entries), mayKeep };
}
