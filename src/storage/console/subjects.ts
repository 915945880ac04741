import type { Queryable } from '../database.ts';
import { type Sql, sql } from '../sql.ts';

// The subjects that a person may name in the bar of the console: a catalog, a resource or a node, wherever it is known.

/** A catalog of a node, and how far it is known: stored by the own catalog service, crawled, indexed. */
export interface KnownCatalog {
  catalogId: string;
  owner: string;
  stored: StoredCatalog | null;
  indexed: IndexedCatalog | null;
  isCrawled: boolean;
}

export interface StoredCatalog {
  key: number;
  version: number;
  type: 'REGULAR' | 'MASTER';
  isActive: boolean;
  visibleTo: string[];
  resources: number;
  offers: number;
  updatedAt: string;
}

export interface IndexedCatalog {
  key: number;
  source: string;
  type: 'REGULAR' | 'MASTER';
  isActive: boolean;
  isServed: boolean;
  networks: string[];
  updatedAt: string;
}

export function findKnownCatalogs(
  queryable: Queryable,
  { catalogId, owner, limit }: { catalogId?: string; owner?: string; limit: number },
) {
  return queryable.rows<KnownCatalog>(sql`with named as (
      (select id, owner from catalog.catalog
       where owner is not null and (${catalogId}::text is null or id = ${catalogId}) and (${owner}::text is null
         or owner = ${owner}) order by id limit ${limit})
      union
      (select id, owner from discovery.catalog
       where (${catalogId}::text is null or id = ${catalogId}) and (${owner}::text is null or owner = ${owner}) order by served desc,
         id limit ${limit})
      union
      (select catalog_id, node from discovery.crawl_target
       where (${catalogId}::text is null or catalog_id = ${catalogId}) and (${owner}::text is null
         or node = ${owner}) order by catalog_id limit ${limit})
    )
    select named.id as "catalogId", named.owner,
      (select jsonb_build_object('key', key, 'version', version, 'type', type, 'isActive', is_active, 'visibleTo', visible_to,
         'resources', resource_count, 'offers', offer_count, 'updatedAt', updated_at)
       from catalog.catalog as stored where stored.id = named.id and stored.owner = named.owner) as stored,
      (select jsonb_build_object('key', key, 'source', source, 'type', type, 'isActive', is_active, 'isServed', served,
         'networks', networks, 'updatedAt', updated_at)
       from discovery.catalog as held where held.owner = named.owner and held.id = named.id
       order by served desc, key limit 1) as indexed,
      exists (select from discovery.crawl_target as target where target.node = named.owner and target.catalog_id = named.id) as "isCrawled"
    from named order by named.id, named.owner limit ${limit}`);
}

/** Many catalogs may have a resource with the same id: the search for one is limited to this many. */
const maxHomesLookedAt = 1_000;

export async function findHomeOfResource(queryable: Queryable, resourceId: string) {
  const indexed = await queryable.first<{ catalogId: string; owner: string }>(sql`
    select catalog.id as "catalogId", owner
    from (select catalog_key from discovery.resource where id = ${resourceId} order by catalog_key limit ${maxHomesLookedAt}) as home
    join discovery.catalog on catalog.key = catalog_key order by served desc, key limit 1`);
  if (indexed) return indexed;
  // The catalog service has no index on the ids of resources, which every publish would have to pay for: each catalog is probed for it by its primary key.
  return queryable.first<{ catalogId: string; owner: string }>(sql`
    select catalog.id as "catalogId", owner from catalog.catalog
    cross join lateral (select from catalog.resource where catalog_key = catalog.key and resource.id = ${resourceId} limit 1) as found
    where owner is not null limit 1`);
}

export interface PushedCopy {
  discovery: string;
  version: number | null;
  state: string;
  acknowledgedAt: Date | null;
  lastError: string | null;
}

export function listCopies(queryable: Queryable, { catalogId, owner }: { catalogId: string; owner: string }) {
  return queryable.rows<PushedCopy>(sql`
    select subscriber as discovery, acknowledged_version as version, state, last_error as "lastError",
      case when state in ('acknowledged', 'withdrawn') then sent_timestamp end as "acknowledgedAt"
    from catalog.push join catalog.catalog on catalog.key = push.catalog_key
    where catalog.id = ${catalogId} and owner = ${owner} order by subscriber limit 1000`);
}

/** The crawl log of a node by reason: how often, and when last. A gap comes after its cause, which is noted at the same time. */
export interface LoggedIssue {
  code: string;
  message: string;
  hint: string | null;
  catalogId: string | null;
  url: string | null;
  count: number;
  lastAt: Date;
}

export function listLoggedIssues(
  queryable: Queryable,
  { node, catalogId, limit }: { node: string; catalogId?: string; limit: number },
) {
  return queryable.rows<LoggedIssue>(sql`
    select code, message, max(hint) as hint, catalog_id as "catalogId", max(url) as url, sum(times)::float8 as count, max(at) as "lastAt"
    from discovery.crawl_log where node = ${node} and (${catalogId}::text is null or catalog_id is null or catalog_id = ${catalogId})
    group by code, message, catalog_id order by max(at) desc, code = 'gap', max(id) desc limit ${limit}`);
}

/** The catalog service stores a catalog; the discovery service has it in its index. */
export type DocumentsOf = 'stored' | 'indexed';

/** As JSON text. */
export interface ReadDocument {
  id: string;
  document: string;
}

/** A catalog by its key in the catalog service or in the index: its members as JSON text, and its documents unless resources or offers exceed the bounds. */
export async function readDocuments(
  queryable: Queryable,
  of: DocumentsOf,
  key: number,
  { maxDocuments, maxBytes }: { maxDocuments: number; maxBytes: number },
): Promise<{ head: string; lists?: Record<'resources' | 'offers', ReadDocument[]> }> {
  const { head, resources, offers } = statements[of](key);
  const found = (await queryable.value<string | undefined>(head)) ?? '{}';
  for (const list of [resources, offers]) {
    const { documents, bytes } = await queryable.one<{ documents: number; bytes: number }>(sql`
      select count(*) as documents, coalesce(sum(octet_length(document)), 0)::float8 as bytes
      from (${list} limit ${maxDocuments + 1}) as first`);
    if (documents > maxDocuments || bytes > maxBytes) return { head: found };
  }
  const read = (list: Sql) => queryable.rows<ReadDocument>(list);
  return { head: found, lists: { resources: await read(resources), offers: await read(offers) } };
}

const statements: Record<DocumentsOf, (key: number) => Record<'head' | 'resources' | 'offers', Sql>> = {
  stored: (key) => ({
    head: sql`select head::text from catalog.catalog where key = ${key}`,
    resources: sql`select id, coalesce(assembled, own)::text as document from catalog.resource where catalog_key = ${key} order by id`,
    offers: sql`select id, own::text as document from catalog.offer where catalog_key = ${key} order by id`,
  }),
  indexed(key) {
    const listOf = (kind: Sql) => sql`select id, document::text as document from discovery.${kind}
      where key > ${key}::bigint << 26 and key < (${key}::bigint + 1) << 26 order by key`;
    return {
      head: sql`select head::text from discovery.catalog where key = ${key}`,
      ...{ resources: listOf(sql`resource`), offers: listOf(sql`offer`) },
    };
  },
};
