import type { CatalogType } from '../../protocol/catalog.ts';
import type { Queryable } from '../database.ts';
import { matchText, type TextFilter } from '../look-for-text.ts';
import { Parameters } from '../parameters.ts';

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
  /** Of a crawled one. */
  version: number | null;
  updatedAt: Date;
  isServed: boolean;
  isActive: boolean;
}

export interface IndexedFilter extends TextFilter {
  owner?: string;
  id?: string;
  type?: CatalogType;
  networkId?: string;
  source?: IndexSource;
  limit: number;
  /** Only those that come after this key. */
  after?: number;
}

/** Documents of each catalog are counted up to this number. */
export const countedDocuments = 10_000;

const isPushed = 'pushed_at is not null and (pulled_at is null or pulled_at <= push_arrived_at)';
const sources: Record<IndexSource, string> = {
  push: `source <> 'node' and ${isPushed}`,
  pull: `source <> 'node' and not (${isPushed})`,
  crawl: "source = 'node'",
};

/** A document's key is that of its catalog times 2^26 and its number: resources below 2^25, offers from there on. */
const count = (table: string, from: number, to: number) =>
  `(select count(*) from (
     select from ${table} where key >= (catalog.key << 26) + ${from} and key < (catalog.key << 26) + ${to} limit ${countedDocuments}
   ) as counted)`;

/** In the order of their keys. */
export function listIndexedCatalogs(queryable: Queryable, filter: IndexedFilter): Promise<IndexedCatalog[]> {
  const given = new Parameters();
  const chosen = matchText(matchingIndexed(filter, given), filter, given);
  return queryable.rows<IndexedCatalog>(
    `select key, catalog.id, owner, head -> 'descriptor' ->> 'name' as name,
       case when source = 'node' then 'crawl' when ${isPushed} then 'push' else 'pull' end as source,
       case when source like 'service:%' then substr(source, 9) end as service, type, networks,
       schema_types as "schemaTypes", ${count('discovery.resource', 1, 2 ** 25)} as resources,
       ${count('discovery.offer', 2 ** 25, 2 ** 26)} as offers,
       case when source = 'node' then target.version end as version, updated_at as "updatedAt",
       served as "isServed", is_active as "isActive"
     from (select * from ${chosen} order by key limit ${given.add(filter.limit)}) as catalog
     left join discovery.crawl_target as target on target.node = owner and target.catalog_id = catalog.id
     order by key`,
    given.values,
  );
}

/** Those that match all but the text. */
export function matchingIndexed(
  { owner, id, type, networkId, source, after }: IndexedFilter,
  given: Parameters,
): string {
  const conditions = ['true'];
  if (owner !== undefined) conditions.push(`owner = ${given.add(owner)}`);
  if (id !== undefined) conditions.push(`id = ${given.add(id)}`);
  // As the partial index has it.
  if (type !== undefined) conditions.push(type === 'MASTER' ? "type = 'MASTER'" : "type = 'REGULAR'");
  if (networkId !== undefined)
    conditions.push(`(networks @> array[${given.add(networkId)}] or networks = '{}')`);
  if (source !== undefined) conditions.push(`(${sources[source]})`);
  if (after !== undefined) conditions.push(`key > ${given.add(after)}`);
  return `discovery.catalog where ${conditions.join(' and ')}`;
}

/** The head, resources and offers of a catalog as texts of JSON, as long as they fit. */
export async function readIndexedDocument(queryable: Queryable, key: number, maxDocuments: number) {
  const { rows } = await queryable.query<{ head: string; resources: string[]; offers: string[] }>(
    `select head,
       array(select document::text from discovery.resource where key >= ($1::bigint << 26) + 1 and key < ($1::bigint << 26) + ${2 ** 25} order by key limit $2) as resources,
       array(select document::text from discovery.offer where key >= ($1::bigint << 26) + ${2 ** 25} and key < ($1::bigint + 1) << 26 order by key limit $2) as offers
     from discovery.catalog where key = $1`,
    [key, maxDocuments],
  );
  return rows[0] ?? { head: '{}', resources: [], offers: [] };
}
