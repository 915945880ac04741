import type { CatalogType } from '../../protocol/catalog.ts';
import { isWithin, type PeriodBounds } from '../time-period.ts';

// Which catalogs discover searches. Decided: no templates, no inactive catalogs, none outside its validity; `context.networkId` and `context.schemaContext` narrow the search.

export interface SearchScope {
  networkId?: string;
  /** Schema context URIs; the catalog must use one of them. None means all. */
  schemaContext?: readonly string[];
}

export interface CatalogState {
  type: CatalogType;
  /** None means every network, as in a catalog index (self-hosted spec: Catalog index, networkIds). */
  networkIds: readonly string[];
  schemaTypes: ReadonlySet<string>;
  isActive?: boolean;
  validity?: PeriodBounds;
}

export function isSearched(catalog: CatalogState, scope: SearchScope, now: Date): boolean {
  const { schemaContext = [] } = scope;
  return (
    isServed(catalog, scope.networkId, now) &&
    (schemaContext.length === 0 || schemaContext.some((context) => catalog.schemaTypes.has(context)))
  );
}

/** Whether a catalog counts in a network: as that of a searched resource, or of an offer on it. */
export function isServed(
  { type, networkIds, isActive = true, validity = {} }: Omit<CatalogState, 'schemaTypes'>,
  networkId: string | undefined,
  now: Date,
): boolean {
  return (
    type !== 'MASTER' &&
    isActive &&
    isWithin(validity, now) &&
    (networkId === undefined || networkIds.length === 0 || networkIds.includes(networkId))
  );
}
