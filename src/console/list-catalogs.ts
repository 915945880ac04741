import type { CatalogType } from '../protocol/catalog.ts';
import { type CatalogSummary, listCatalogs, matchingCatalogs } from '../storage/catalog/catalog-list.ts';
import {
  countedDocuments,
  type IndexedCatalog,
  type IndexSource,
  listIndexedCatalogs,
  matchingIndexed,
} from '../storage/console/indexed-catalogs.ts';
import type { Queryable } from '../storage/database.ts';
import { findEndOfLook } from '../storage/look-for-text.ts';
import type { CatalogSummary as ShownCatalog } from './answers/network.ts';
import { type Page, renderCursor, type Unsent, withoutNulls } from './list.ts';

// Catalogs of the catalog service, then those of the discovery index, which came by push, pull or crawl. The same one may be in both.

/** No index finds a part of a name: a page looks at so many catalogs for it, and its cursor goes on behind them. */
const maxLookedAt = 100_000;

interface AskedCatalogs {
  owner?: string;
  type?: CatalogType;
  networkId?: string;
  text?: string;
  source?: 'service' | IndexSource;
  limit: number;
  after?: CatalogPosition;
  lookAt?: number;
}

interface CatalogPosition {
  in: 'service' | 'index';
  key: number;
}

export interface CatalogPage extends Page<ShownCatalog> {
  lookedAt?: number;
}

export async function listAllCatalogs(queryable: Queryable, asked: AskedCatalogs): Promise<CatalogPage> {
  const { source, after } = asked;
  const isPublishedNext = source !== undefined ? source === 'service' : after?.in !== 'index';
  if (!isPublishedNext) return listIndex(queryable, asked);
  const page = await listPublished(queryable, asked);
  if (source === 'service' || page.next !== undefined) return page;
  const room = asked.limit - page.items.length;
  const { items, ...rest } = await listIndex(queryable, { ...asked, limit: room, after: undefined });
  return { items: [...page.items, ...items], ...rest };
}

async function listPublished(queryable: Queryable, asked: AskedCatalogs): Promise<CatalogPage> {
  const wanted = { ...asked, after: asked.after?.key, lookAt: asked.lookAt ?? maxLookedAt };
  const found = await listCatalogs(queryable, wanted);
  return buildPage(found, publishedItem, wanted, 'service', () =>
    findEndOfLook(queryable, matchingCatalogs(wanted), wanted.lookAt),
  );
}

async function listIndex(queryable: Queryable, asked: AskedCatalogs): Promise<CatalogPage> {
  const source = asked.source === 'service' ? undefined : asked.source;
  const wanted = { ...asked, source, after: asked.after?.key, lookAt: asked.lookAt ?? maxLookedAt };
  const found = await listIndexedCatalogs(queryable, wanted);
  return buildPage(found, indexedItem, wanted, 'index', () =>
    findEndOfLook(queryable, matchingIndexed(wanted), wanted.lookAt),
  );
}

async function buildPage<T extends { key: number }>(
  found: readonly T[],
  itemOf: (one: T) => Unsent<ShownCatalog>,
  { limit, text, lookAt }: { limit: number; text?: string; lookAt: number },
  place: CatalogPosition['in'],
  findEnd: () => Promise<number | undefined>,
): Promise<CatalogPage> {
  const items = found.map(itemOf);
  if (found.length === limit) return { items, next: renderCursor({ in: place, key: found.at(-1)?.key }) };
  const key = text === undefined ? undefined : await findEnd();
  return key === undefined ? { items } : { items, next: renderCursor({ in: place, key }), lookedAt: lookAt };
}

export function publishedItem(catalog: CatalogSummary): Unsent<ShownCatalog> {
  const { id: catalogId, name, owner, type, visibleTo: networks, version, updatedAt } = catalog;
  const schemaTypes = typesAmong(catalog.schemaTypes);
  return withoutNulls({
    ...{
      catalogId,
      name,
      owner,
      source: 'service' as const,
      networks,
      type,
      schemaTypes,
      version,
      updatedAt,
    },
    ...{ resources: catalog.resourceCount, offers: catalog.offerCount },
    state: catalog.isActive ? 'active' : 'inactive',
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

/** Contexts stand beside `context#Type`, which says more. */
function typesAmong(names: readonly string[]): string[] {
  const typed = names.filter((name) => name.includes('#'));
  return typed.length > 0 ? typed : [...names];
}
