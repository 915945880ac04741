import { type CatalogState, isSearched } from '../../rules/discover/served.ts';
import type { Parameters } from '../../storage/parameters.ts';
import type { IndexReader } from '../cache/caches.ts';
import { catalogKeyOf } from '../keys.ts';
import { checkedBy, type DocSet } from '../set/doc-set.ts';
import type { Keys } from '../set/sorted.ts';
import { readCatalogs } from './load-catalogs.ts';

// The scope of a search: which catalogs it looks at. The states of all catalogs are cached (cache/catalog-table.ts), so that candidates are held against it without asking the database; statements that sample
// catalogs have it as a condition. rules/discover/served.ts decides.

export interface Scope {
  now: Date;
  networkId?: string;
  /** Schema context URIs, one of which the catalog must use; none means all. */
  schemaContext: readonly string[];
}

/** Those of a set that belong to searched catalogs. */
export function inScope(reader: IndexReader, set: DocSet, scope: Scope): DocSet {
  return checkedBy(set, (keys) => selectSearched(reader, keys, scope));
}

/** Those of the keys that belong to searched catalogs, in their order. */
export async function selectSearched(reader: IndexReader, keys: Keys, scope: Scope): Promise<Keys> {
  const { catalogs } = reader.caches;
  // Without waiting where all states are cached: meanwhile some could be invalidated.
  const searched = select((catalogKey) => catalogs.find(catalogKey), keys, scope);
  if (searched) return searched;
  const states = await findStates(reader, keys);
  return select((catalogKey) => states.get(catalogKey) ?? null, keys, scope) ?? new Float64Array();
}

/** Undefined where nothing is known of one of the catalogs. */
function select(
  stateOf: (catalogKey: number) => CatalogState | null | undefined,
  keys: Keys,
  scope: Scope,
): Keys | undefined {
  const verdicts = new Map<CatalogState, boolean>();
  const searched = new Float64Array(keys.length);
  let count = 0;
  let catalogKey = Number.NaN;
  let isIn = false;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as number;
    // Most stand beside others of their catalog, and most catalogs have the state of others.
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

/** The states of the catalogs of these keys, null where there is no such catalog; those that are not cached are read. */
export async function findStates(reader: IndexReader, keys: Keys): Promise<Map<number, CatalogState | null>> {
  const { catalogs } = reader.caches;
  // Taken now: cached states may be invalidated while the others are read.
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

/** What every searched catalog must satisfy, as parameters of a statement. Its text does not depend on the scope, so that it can be prepared. */
export interface ScopeParameters {
  now: string;
  sinceMidnight: string;
  networkId: string;
}

export function addScope({ now, networkId }: Scope, parameters: Parameters): ScopeParameters {
  return {
    now: `${parameters.add(now)}::timestamptz`,
    sinceMidnight: `${parameters.add(now.getTime() % dayMs)}::integer`,
    networkId: `${parameters.add(networkId ?? null)}::text`,
  };
}

/** The catalog `alias` counts in this network, now: no template, active, within its validity, not hidden. */
export function servedCondition(alias: string, { now, sinceMidnight, networkId }: ScopeParameters): string {
  return `${alias}.type = 'REGULAR' and ${alias}.is_active and ${alias}.served
    and (${alias}.valid_from is null or ${alias}.valid_from <= ${now})
    and (${alias}.valid_until is null or ${alias}.valid_until >= ${now})
    and (${alias}.window_start is null
         or (${sinceMidnight} - ${alias}.window_start + ${dayMs}) % ${dayMs} <= ${alias}.window_length)
    and (${networkId} is null or ${alias}.networks = '{}' or ${networkId} = any (${alias}.networks))`;
}

const dayMs = 24 * 60 * 60 * 1000;
