import { type CatalogSummary, listCatalogs, matchingCatalogs } from '../storage/catalog/catalog-list.ts';
import {
  countedDocuments,
  type IndexedCatalog,
  type IndexSource,
  listIndexedCatalogs,
  matchingIndexed,
} from '../storage/console/indexed-catalogs.ts';
import type { Queryable } from '../storage/database.ts';
import type { CatalogFilter } from '../storage/look-for-text.ts';
import { findEndOfLook } from '../storage/look-for-text.ts';
import type { Sql } from '../storage/sql.ts';
import type { CatalogSummary as ShownCatalog } from './answers/network.ts';
import { type Page, renderCursor, withoutNulls } from './list.ts';
import type { Unsent } from './route.ts';

// Catalogs of the catalog service, then those of the discovery index, from push, pull or crawl. One catalog may be in both.

/** No database index finds a part of a name: a page compares at most this many catalogs, and its cursor continues after them. */
const maxLookedAt = 100_000;

interface AskedCatalogs extends Omit<CatalogFilter, 'after'> {
  source?: 'service' | IndexSource;
  after?: { in: 'service' | 'index'; key: number };
}

export async function listAllCatalogs(queryable: Queryable, asked: AskedCatalogs) {
  const { source, after } = asked;
  const isPublishedNext = source !== undefined ? source === 'service' : after?.in !== 'index';
  if (!isPublishedNext) return listIndex(queryable, asked);
  const page = await listPublished(queryable, asked);
  if (source === 'service' || page.next !== undefined) return page;
  const room = asked.limit - page.items.length;
  const { items, next } = await listIndex(queryable, { ...asked, limit: room, after: undefined });
  return { items: [...page.items, ...items], next };
}

async function listPublished(queryable: Queryable, asked: AskedCatalogs): Promise<Page<ShownCatalog>> {
  const wanted = { ...asked, after: asked.after?.key, lookAt: asked.lookAt ?? maxLookedAt };
  const found = await listCatalogs(queryable, wanted);
  const next = await findNext(queryable, 'service', found, wanted, matchingCatalogs(wanted));
  return { items: found.map(publishedItem), next };
}

async function listIndex(queryable: Queryable, asked: AskedCatalogs): Promise<Page<ShownCatalog>> {
  const source = asked.source === 'service' ? undefined : asked.source;
  const wanted = { ...asked, source, after: asked.after?.key, lookAt: asked.lookAt ?? maxLookedAt };
  const found = await listIndexedCatalogs(queryable, wanted);
  const next = await findNext(queryable, 'index', found, wanted, matchingIndexed(wanted));
  return { items: found.map(indexedItem), next };
}

/** The next page starts after the last catalog of a full page, or after the last examined one. */
async function findNext(
  queryable: Queryable,
  place: 'service' | 'index',
  found: readonly { key: number }[],
  { limit, text, lookAt }: { limit: number; text?: string; lookAt: number },
  matching: Sql,
): Promise<string | undefined> {
  const last = found.length === limit ? found.at(-1)?.key : undefined;
  const key = last ?? (text === undefined ? undefined : await findEndOfLook(queryable, matching, lookAt));
  return key === undefined ? undefined : renderCursor({ in: place, key });
}

export function publishedItem(catalog: CatalogSummary): Unsent<ShownCatalog> {
  const { id: catalogId, name, owner, type, visibleTo: networks, version, updatedAt } = catalog;
  return withoutNulls({
    ...{ catalogId, name, owner, source: 'service' as const, networks, type, version, updatedAt },
    ...{ resources: catalog.resourceCount, offers: catalog.offerCount },
    ...{ schemaTypes: typesAmong(catalog.schemaTypes), state: catalog.isActive ? 'active' : 'inactive' },
  });
}

export function indexedItem(one: IndexedCatalog): Unsent<ShownCatalog> {
  const { key: _, id, isServed, isActive, schemaTypes, ...catalog } = one;
  const { resources, offers } = catalog;
  return withoutNulls({
    ...{ catalogId: id, ...catalog, schemaTypes: typesAmong(schemaTypes) },
    ...(Math.max(resources, offers) >= countedDocuments && { orMore: true }),
    state: isServed ? (isActive ? 'served' : 'paused') : 'withdrawn',
  });
}

/** Drops contexts if `context#Type` is available, which says more. */
function typesAmong(names: readonly string[]): string[] {
  const typed = names.filter((name) => name.includes('#'));
  return typed.length > 0 ? typed : [...names];
}
