import type { Queryable } from '../database.ts';

// What a person may name in the bar of the console: a catalog, a resource or a node, wherever it is known.

/** A catalog of a node, and how far it is known: stored by the own catalog service, crawled, indexed. */
export interface KnownCatalog {
  catalogId: string;
  owner: string;
  stored: StoredCatalog | null;
  indexed: IndexedCatalog | null;
  isCrawled: boolean;
}

export interface StoredCatalog {
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

/** The catalogs with an id, or those of a node, or both. */
export function findKnownCatalogs(
  queryable: Queryable,
  { catalogId, owner, limit }: { catalogId?: string; owner?: string; limit: number },
) {
  return queryable.rows<KnownCatalog>(
    `with named as (
       (select id, owner from catalog.catalog
        where owner is not null and ($1::text is null or id = $1) and ($2::text is null or owner = $2) order by id limit $3)
       union
       (select id, owner from discovery.catalog
        where ($1::text is null or id = $1) and ($2::text is null or owner = $2) order by served desc, id limit $3)
       union
       (select catalog_id, node from discovery.crawl_target
        where ($1::text is null or catalog_id = $1) and ($2::text is null or node = $2) order by catalog_id limit $3)
     )
     select named.id as "catalogId", named.owner,
       (select jsonb_build_object('version', version, 'type', type, 'isActive', is_active, 'visibleTo', visible_to,
          'resources', resource_count, 'offers', offer_count, 'updatedAt', updated_at)
        from catalog.catalog as stored where stored.id = named.id and stored.owner = named.owner) as stored,
       (select jsonb_build_object('key', key, 'source', source, 'type', type, 'isActive', is_active, 'isServed', served,
          'networks', networks, 'updatedAt', updated_at)
        from discovery.catalog as held where held.owner = named.owner and held.id = named.id
        order by served desc, key limit 1) as indexed,
       exists (select from discovery.crawl_target as target where target.node = named.owner and target.catalog_id = named.id) as "isCrawled"
     from named order by named.id, named.owner limit $3`,
    [catalogId, owner, limit],
  );
}

/** Many catalogs may have a resource with the same id: the search for one is limited to this many. */
const maxHomesLookedAt = 1_000;

/** The catalog of a resource: one that is served, where several have the id. */
export async function findHomeOfResource(queryable: Queryable, resourceId: string) {
  const indexed = await queryable.first<{ catalogId: string; owner: string }>(
    `select catalog.id as "catalogId", owner
     from (select catalog_key from discovery.resource where id = $1 order by catalog_key limit $2) as home
     join discovery.catalog on catalog.key = catalog_key order by served desc, key limit 1`,
    [resourceId, maxHomesLookedAt],
  );
  if (indexed) return indexed;
  // The catalog service has no index on the ids of resources, which every publish would have to pay for: each catalog is probed for it by its primary key.
  return queryable.first<{ catalogId: string; owner: string }>(
    `select catalog.id as "catalogId", owner from catalog.catalog
     cross join lateral (select from catalog.resource where catalog_key = catalog.key and resource.id = $1 limit 1) as found
     where owner is not null limit 1`,
    [resourceId],
  );
}

/** Which discovery services have which version of a stored catalog. */
export interface PushedCopy {
  discovery: string;
  version: number | null;
  state: string;
  acknowledgedAt: Date | null;
  lastError: string | null;
}

export function listCopies(queryable: Queryable, { catalogId, owner }: { catalogId: string; owner: string }) {
  return queryable.rows<PushedCopy>(
    `select subscriber as discovery, acknowledged_version as version, state, last_error as "lastError",
       case when state in ('acknowledged', 'withdrawn') then sent_timestamp end as "acknowledgedAt"
     from catalog.push join catalog.catalog on catalog.key = push.catalog_key
     where catalog.id = $1 and owner = $2 order by subscriber limit 1000`,
    [catalogId, owner],
  );
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
  return queryable.rows<LoggedIssue>(
    `select code, message, max(hint) as hint, catalog_id as "catalogId", max(url) as url, sum(times)::float8 as count, max(at) as "lastAt"
     from discovery.crawl_log where node = $1 and ($2::text is null or catalog_id is null or catalog_id = $2)
     group by code, message, catalog_id order by max(at) desc, code = 'gap', max(id) desc limit $3`,
    [node, catalogId ?? null, limit],
  );
}

/** The documents of a catalog as texts, by their ids. */
export interface CatalogDocuments {
  head: string;
  resources: { id: string; document: string }[];
  offers: { id: string; document: string }[];
}

/** Of resources, and of offers. */
export interface DocumentBounds {
  maxDocuments: number;
  maxBytes: number;
}

/** As the discovery service holds them; `too large` where they exceed the bounds. */
export async function readIndexedDocuments(queryable: Queryable, catalogKey: number, bounds: DocumentBounds) {
  const head = await queryable.value<string | undefined>(
    'select head::text from discovery.catalog where key = $1',
    [catalogKey],
  );
  const listOf = (kind: 'resource' | 'offer') =>
    `select id, document::text as document from discovery.${kind}
     where key > $1::bigint << 26 and key < ($1::bigint + 1) << 26`;
  const lists = { resources: listOf('resource'), offers: listOf('offer') };
  return head === undefined ? undefined : readLists(queryable, { key: catalogKey, head }, lists, bounds);
}

/** As they leave the own catalog service; `too large` where they exceed the bounds. */
export async function readStoredDocuments(
  queryable: Queryable,
  { catalogId, owner }: { catalogId: string; owner: string },
  bounds: DocumentBounds,
): Promise<CatalogDocuments | 'too large' | undefined> {
  const stored = await queryable.first<{ key: number; head: string }>(
    'select key, head::text as head from catalog.catalog where id = $1 and owner = $2',
    [catalogId, owner],
  );
  const lists = {
    resources:
      'select id, coalesce(assembled, own)::text as document from catalog.resource where catalog_key = $1',
    offers: 'select id, own::text as document from catalog.offer where catalog_key = $1',
  };
  return stored && readLists(queryable, stored, lists, bounds);
}

async function readLists(
  queryable: Queryable,
  { key, head }: { key: number; head: string },
  lists: { resources: string; offers: string },
  { maxDocuments, maxBytes }: DocumentBounds,
): Promise<CatalogDocuments | 'too large'> {
  for (const list of [lists.resources, lists.offers]) {
    const found = await queryable.first<{ documents: number; bytes: number }>(
      `select count(*) as documents, coalesce(sum(octet_length(document)), 0)::float8 as bytes
       from (${list} limit $2) as first`,
      [key, maxDocuments + 1],
    );
    const { documents = 0, bytes = 0 } = found ?? {};
    if (documents > maxDocuments || bytes > maxBytes) return 'too large';
  }
  const read = (list: string) => queryable.rows<{ id: string; document: string }>(list, [key]);
  return { head, resources: await read(lists.resources), offers: await read(lists.offers) };
}
