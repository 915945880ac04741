import type { CatalogType } from '../../protocol/catalog.ts';
import type { Queryable } from '../database.ts';
import { type CatalogFilter, matchText } from '../look-for-text.ts';
import { join, type Sql, sql } from '../sql.ts';

// Catalogs of the discovery index as an operator sees them: copies that came by push or pull, and crawled ones.

export type IndexSource = 'push' | 'pull' | 'crawl';

export interface IndexedCatalog {
  key: number;
  id: string;
  owner: string;
  name: string | null;
  source: IndexSource;
  /** The catalog service that it came from; null for a crawled one. */
  service: string | null;
  type: CatalogType;
  networks: string[];
  schemaTypes: string[];
  /** Counted up to a bound. */
  resources: number;
  offers: number;
  version: number | null;
  updatedAt: Date;
  isServed: boolean;
  isActive: boolean;
}

interface IndexedFilter extends CatalogFilter {
  id?: string;
  source?: IndexSource;
}

export const countedDocuments = 10_000;

const isPushed = sql`pushed_at is not null and (pulled_at is null or pulled_at <= push_arrived_at)`;
const sources: Record<IndexSource, Sql> = {
  push: sql`source <> 'node' and ${isPushed}`,
  pull: sql`source <> 'node' and not (${isPushed})`,
  crawl: sql`source = 'node'`,
};

/** A document's key is that of its catalog times 2^26 and its number: resources below 2^25, offers from there on. */
const count = (table: Sql, from: number, to: number) =>
  sql`(select count(*) from (
     select from ${table} where key >= (catalog.key << 26) + ${from} and key < (catalog.key << 26) + ${to} limit ${countedDocuments}
   ) as counted)`;

export function listIndexedCatalogs(queryable: Queryable, filter: IndexedFilter): Promise<IndexedCatalog[]> {
  const chosen = matchText(matchingIndexed(filter), filter);
  return queryable.rows<IndexedCatalog>(sql`
    select key, catalog.id, owner, head -> 'descriptor' ->> 'name' as name,
       case when source = 'node' then 'crawl' when ${isPushed} then 'push' else 'pull' end as source,
       case when source like 'service:%' then substr(source, 9) end as service, type, networks,
       schema_types as "schemaTypes", ${count(sql`discovery.resource`, 1, 2 ** 25)} as resources,
       ${count(sql`discovery.offer`, 2 ** 25, 2 ** 26)} as offers,
       case when source = 'node' then target.version end as version, updated_at as "updatedAt",
       served as "isServed", is_active as "isActive"
     from (select * from ${chosen} order by key limit ${filter.limit}) as catalog
    left join discovery.crawl_target as target on target.node = owner and target.catalog_id = catalog.id
    order by key`);
}

export function matchingIndexed({ owner, id, type, networkId, source, after }: IndexedFilter): Sql {
  const conditions = [sql`true`];
  if (owner !== undefined) conditions.push(sql`owner = ${owner}`);
  if (id !== undefined) conditions.push(sql`id = ${id}`);
  // As the partial index has it.
  if (type !== undefined) conditions.push(type === 'MASTER' ? sql`type = 'MASTER'` : sql`type = 'REGULAR'`);
  if (networkId !== undefined) conditions.push(sql`(networks @> ${[networkId]} or networks = '{}')`);
  if (source !== undefined) conditions.push(sql`(${sources[source]})`);
  if (after !== undefined) conditions.push(sql`key > ${after}`);
  return sql`discovery.catalog where ${join(conditions, ' and ')}`;
}
