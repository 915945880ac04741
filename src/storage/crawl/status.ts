import type { Queryable } from '../database.ts';

// The state of the crawl for the operator: nodes, and the state of each catalog.

export interface CrawlSummary {
  sources: SourceStatus[];
  /** By state. */
  catalogs: { state: CatalogStanding; count: number }[];
  /** The next tasks, in order. */
  next: NextWork[];
}

export interface CrawlStatus extends CrawlSummary {
  nodes: NodeStatus[];
  /** Number of all nodes, including those beyond the limit. */
  nodeCount: number;
}

export interface SourceStatus {
  kind: string;
  name: string;
  failures: number;
  nodes: number;
  nextAt: Date | null;
}

/** Something that is due, now or later. */
export interface NextWork {
  what: 'enumeration' | 'manifest' | 'index' | 'catalog';
  /** A network or node of the settings, an identity, an address, a catalogId. */
  name: string;
  /** The node; null for an enumeration. */
  node: string | null;
  at: Date;
}

export interface NodeStatus {
  node: string;
  /** Host and port of its manifest. */
  host: string;
  indexes: number;
  catalogs: number;
  served: number;
  /** How often in a row its manifest or record, one of its indexes or one of its catalogs could not be read. */
  failures: number;
  checkedAt: Date | null;
  nextAt: Date | null;
}

export interface CatalogStatus {
  catalogId: string;
  type: 'REGULAR' | 'MASTER';
  state: CatalogStanding;
  /** The served version; null if there is none. */
  version: number | null;
  /** Versions of the entry that counts, and of the last processed one. */
  entryVersion: number | null;
  appliedEntryVersion: number | null;
  resources: number;
  waitingFor: string[] | null;
  failures: number;
  lastCode: string | null;
  nextAt: Date | null;
}

export type CatalogStanding =
  | 'served'
  | 'paused'
  | 'unconfirmed'
  | 'unverified'
  | 'waiting for a master'
  | 'failing'
  | 'not read yet'
  | 'not relevant'
  | 'not asked for'
  | 'retired';

/** In the order of precedence. Paused entries have an index, so few documents are parsed. */
const standing = `case
  when retired_at is not null then 'retired'
  when not named then 'not asked for'
  when not relevant then 'not relevant'
  when unverified_since is not null then 'unverified'
  when version is null and waiting_for is not null then 'waiting for a master'
  when version is null and failures > 0 then 'failing'
  when version is null then 'not read yet'
  when unconfirmed_since is not null then 'unconfirmed'
  when exists (
    select from discovery.crawl_entry as entry
    where (entry.index_id, entry.catalog_id) = (target.index_id, target.catalog_id) and document ->> 'isActive' = 'false'
  ) then 'paused'
  else 'served' end`;

export async function summarizeCrawl(queryable: Queryable): Promise<CrawlSummary> {
  const { rows: sources } = await queryable.query<SourceStatus>(
    `select kind, name, failures, (select count(*) from discovery.crawl_naming where source_id = id and present) as nodes, due_at as "nextAt"
     from discovery.crawl_source order by kind, name`,
  );
  const { rows: catalogs } = await queryable.query<CrawlStatus['catalogs'][number]>(
    `select ${standing} as state, count(*) from discovery.crawl_target as target group by 1 order by 2 desc, 1`,
  );
  return { sources, catalogs, next: await findNextWork(queryable, { limit: nextShown }) };
}

const nextShown = 5;

/** The nodes that fail most come first. */
export async function readCrawlStatus(queryable: Queryable, { limit }: { limit: number }) {
  const { rows: nodes } = await queryable.query<NodeStatus>(
    `select node, host, coalesce(indexes, 0) as indexes, coalesce(catalogs, 0) as catalogs, coalesce(served, 0) as served,
       greatest(node.failures, listed.failures, owned.failures) as failures,
       checked_at as "checkedAt", least(node.due_at, listed.due_at, owned.due_at) as "nextAt"
     from discovery.crawl_node as node join discovery.crawl_host as host on host.id = host_id
       left join (
         select node_id, count(*) as indexes, max(failures) as failures, min(due_at) as due_at
         from discovery.crawl_index where listed group by node_id
       ) as listed on listed.node_id = node.id
       left join (
         select node_id, count(*) as catalogs, count(*) filter (where shown) as served, max(failures) as failures, min(due_at) as due_at
         from discovery.crawl_target group by node_id
       ) as owned on owned.node_id = node.id
     order by failures desc, node limit $1`,
    [limit],
  );
  const nodeCount = await queryable.value<number>('select count(*) from discovery.crawl_node');
  return { ...(await summarizeCrawl(queryable)), nodes, nodeCount };
}

export type NodeStanding =
  | 'not looked at yet'
  | 'failing'
  | 'with failing catalogs'
  | 'nothing published'
  | 'read'
  | 'not asked for';

/** A node as a list shows it. */
export interface ListedNode {
  node: string;
  state: NodeStanding;
  catalogs: number;
  /** How many of its catalogs and indexes could not be read lately. */
  failing: number;
  lastLookAt: Date | null;
  nextAt: Date | null;
  /** Of the last line of the crawl log; of its cause, where that is noted at the same time. */
  lastCode: string | null;
  lastMessage: string | null;
  lastLineAt: Date | null;
}

/** Sorted by name. Partial indexes give the state; the rest is read only for the nodes of the page. */
export function listNodes(
  queryable: Queryable,
  { limit, after = '', state }: { limit: number; after?: string; state?: NodeStanding },
) {
  return queryable.rows<ListedNode>(
    `select node, state, catalogs, listed.failing + owned.failing as failing, checked_at as "lastLookAt",
       least(known.due_at, listed.due_at, owned.due_at) as "nextAt", code as "lastCode", message as "lastMessage", line.at as "lastLineAt"
     from (
       select known.*, state from discovery.crawl_node as known
       cross join lateral (
         select case when not named and not has_masters then 'not asked for'
           when failures > 0 or exists (select from discovery.crawl_index where node_id = known.id and listed and failures > 0) then 'failing'
           when checked_at is null then 'not looked at yet'
           when exists (select from discovery.crawl_target where node_id = known.id and failures > 0) then 'with failing catalogs'
           when not exists (select from discovery.crawl_target where node_id = known.id) then 'nothing published'
           else 'read' end as state
       ) as judged
       where node > $1 and ($2::text is null or state = $2) order by node limit $3
     ) as known
     cross join lateral (
       select count(*) filter (where failures > 0) as failing, min(due_at) as due_at
       from discovery.crawl_index where node_id = known.id and listed
     ) as listed
     cross join lateral (
       select (select count(*) from discovery.crawl_target where node_id = known.id) as catalogs,
         (select count(*) from discovery.crawl_target where node_id = known.id and failures > 0) as failing,
         (select min(due_at) from discovery.crawl_target where node_id = known.id and due_at is not null and index_id is not null) as due_at
     ) as owned
     left join lateral (
       select code, message, at from discovery.crawl_log where crawl_log.node = known.node order by at desc, code = 'gap', id desc limit 1
     ) as line on true
     order by node`,
    [after, state, limit],
  );
}

/** The next due work of all nodes or of one. Work of a resting host is due when its rest ends. */
export function findNextWork(queryable: Queryable, { node, limit }: { node?: string; limit: number }) {
  const parts = [
    "select 'manifest' as what, node as name, node, host_id, due_at from discovery.crawl_node",
    `select 'index', item.url, node, item.host_id, item.due_at
     from discovery.crawl_index as item join discovery.crawl_node as owner on owner.id = node_id`,
    "select 'catalog', catalog_id, node, host_id, due_at from discovery.crawl_target where index_id is not null",
    "select 'enumeration', name, null, null, due_at from discovery.crawl_source",
  ];
  return queryable.rows<NextWork>(
    `select what, name, node, greatest(work.due_at, rest_until) as at
     from (${parts.join(' union all ')}) as work left join discovery.crawl_host as host on host.id = host_id
     where work.due_at is not null and ($1::text is null or node = $1) order by at, what, name limit $2`,
    [node ?? null, limit],
  );
}

/** When a node that is crawled was looked at last; undefined where it is not crawled. */
export function findLastLook(queryable: Queryable, node: string) {
  return queryable.first<{ checkedAt: Date | null }>(
    'select checked_at as "checkedAt" from discovery.crawl_node where node = $1 and (named or has_masters)',
    [node],
  );
}

/** The database's clock, which decides what is due. */
export function readClock(queryable: Queryable) {
  return queryable.value<Date>('select clock_timestamp() as now');
}

/** Whether every source was enumerated since it was due. */
export async function isEnumerated(queryable: Queryable): Promise<boolean> {
  const { rowCount } = await queryable.query(
    'select from discovery.crawl_source where due_at <= now() or leased_until > now() limit 1',
  );
  return rowCount === 0;
}

/** Whether nothing of a node is due. */
export async function isCrawled(queryable: Queryable, node: string): Promise<boolean> {
  const { rowCount } = await queryable.query(
    `select from discovery.crawl_node as node where node = $1 and (
       due_at <= now()
       or exists (select from discovery.crawl_index where node_id = node.id and due_at <= now())
       or exists (select from discovery.crawl_target where node_id = node.id and due_at <= now() and index_id is not null)
     )`,
    [node],
  );
  return rowCount === 0;
}

export interface CrawledFilter {
  /** Only these; default: all. */
  catalogIds?: readonly string[];
  /** Maximum number; default: all. */
  limit?: number;
  /** Only those that come after this id. */
  after?: string;
}

/** In the order of their ids. */
export function listCrawledCatalogs(
  queryable: Queryable,
  node: string,
  { catalogIds, limit, after }: CrawledFilter = {},
) {
  return queryable.rows<CatalogStatus>(
    `select catalog_id as "catalogId", case when is_master then 'MASTER' else 'REGULAR' end as type, ${standing} as state,
       version, entry_version as "entryVersion", applied_entry_version as "appliedEntryVersion", resources,
       waiting_for as "waitingFor", failures, last_code as "lastCode", due_at as "nextAt"
     from discovery.crawl_target as target
     where node = $1 and ($2::text[] is null or catalog_id = any($2)) and ($3::text is null or catalog_id > $3)
     order by catalog_id limit $4`,
    [node, catalogIds, after, limit],
  );
}

/** Whether the discovery service has no due or running work: it has subscribed, pulled, and read every known node. */
export function isAtRest(queryable: Queryable) {
  return queryable.value<boolean>(
    `select not exists (
       select from discovery.feed where configured and (subscription_id is null or run is not null or pull_at <= now())
     ) and not exists (
       select from discovery.crawl_source where due_at <= now() or leased_until > now()
     ) and not exists (
       select from discovery.crawl_host where due_at <= now() or leased_until > now()
     )`,
  );
}
