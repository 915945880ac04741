import type { Queryable } from '../database.ts';
import { sql } from '../sql.ts';

// The state of the crawl for the operator: nodes, and the state of each catalog.

export interface CrawlSummary {
  sources: SourceStatus[];
  catalogs: { state: CatalogStanding; count: number }[];
  next: NextWork[];
}

export interface CrawlStatus extends CrawlSummary {
  nodes: NodeStatus[];
  nodeCount: number;
}

interface SourceStatus {
  kind: string;
  name: string;
  failures: number;
  nodes: number;
  nextAt: Date | null;
}

export interface NextWork {
  what: 'enumeration' | 'manifest' | 'index' | 'catalog';
  /** A network or node of the settings, an identity, an address, a catalogId. */
  name: string;
  /** The node; null for an enumeration. */
  node: string | null;
  at: Date;
}

interface NodeStatus {
  node: string;
  host: string;
  indexes: number;
  catalogs: number;
  served: number;
  /** Consecutive failures to read its manifest or record, an index or a catalog. */
  failures: number;
  checkedAt: Date | null;
  nextAt: Date | null;
}

export interface CatalogStatus {
  catalogId: string;
  type: 'REGULAR' | 'MASTER';
  state: CatalogStanding;
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

type CatalogStanding =
  | 'served'
  | 'paused'
  | 'unconfirmed'
  | 'unverified'
  | 'waiting for a master'
  | 'failing'
  | 'not read yet'
  | 'not relevant'
  | 'not crawled'
  | 'retired';

/** In the order of precedence. Paused entries have an index, so few documents are parsed. */
const standing = sql`case
  when retired_at is not null then 'retired'
  when not named then 'not crawled'
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
  const sources = await queryable.rows<SourceStatus>(sql`
    select kind, name, failures, (select count(*) from discovery.crawl_naming where source_id = id and present) as nodes, due_at as "nextAt"
    from discovery.crawl_source order by kind, name`);
  const catalogs = await queryable.rows<CrawlStatus['catalogs'][number]>(sql`
    select ${standing} as state, count(*) from discovery.crawl_target as target group by 1 order by 2 desc, 1`);
  return { sources, catalogs, next: await findNextWork(queryable, { limit: nextShown }) };
}

const nextShown = 5;

export async function readCrawlStatus(queryable: Queryable, { limit }: { limit: number }) {
  const nodes = await queryable.rows<NodeStatus>(sql`
    select node, host, coalesce(indexes, 0) as indexes, coalesce(catalogs, 0) as catalogs, coalesce(served, 0) as served,
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
    order by failures desc, node limit ${limit}`);
  const nodeCount = await queryable.value<number>('select count(*) from discovery.crawl_node');
  return { ...(await summarizeCrawl(queryable)), nodes, nodeCount };
}

type NodeStanding =
  | 'not crawled yet'
  | 'failing'
  | 'with failing catalogs'
  | 'nothing published'
  | 'read'
  | 'no longer crawled';

interface ListedNode {
  node: string;
  state: NodeStanding;
  catalogs: number;
  /** Number of its catalogs and indexes with a recent reading failure. */
  failing: number;
  lastLookAt: Date | null;
  nextAt: Date | null;
  /** Code of the last line of the crawl log, or of its cause, if that is logged at the same time. */
  lastCode: string | null;
  lastMessage: string | null;
  lastLineAt: Date | null;
}

/** Sorted by name. Partial indexes give the state; the rest is read only for the nodes of the page. */
export function listNodes(
  queryable: Queryable,
  { limit, after = '', state }: { limit: number; after?: string; state?: NodeStanding },
) {
  return queryable.rows<ListedNode>(sql`
    select node, state, catalogs, listed.failing + owned.failing as failing, checked_at as "lastLookAt",
      least(known.due_at, listed.due_at, owned.due_at) as "nextAt", code as "lastCode", message as "lastMessage", line.at as "lastLineAt"
    from (
      select known.*, state from discovery.crawl_node as known
      cross join lateral (
        select case when not named and not has_masters then 'no longer crawled'
          when failures > 0 or exists (select from discovery.crawl_index where node_id = known.id and listed and failures > 0) then 'failing'
          when checked_at is null then 'not crawled yet'
          when exists (select from discovery.crawl_target where node_id = known.id and failures > 0) then 'with failing catalogs'
          when not exists (select from discovery.crawl_target where node_id = known.id) then 'nothing published'
          else 'read' end as state
      ) as judged
      where node > ${after} and (${state}::text is null or state = ${state}) order by node limit ${limit}
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
    order by node`);
}

/** The next due work of all nodes or of one. Work of a resting host is due when its rest ends. */
export function findNextWork(queryable: Queryable, { node, limit }: { node?: string; limit: number }) {
  return queryable.rows<NextWork>(sql`select what, name, node, greatest(work.due_at, rest_until) as at
    from (
      select 'manifest' as what, node as name, node, host_id, due_at from discovery.crawl_node
      union all
      select 'index', item.url, node, item.host_id, item.due_at
      from discovery.crawl_index as item join discovery.crawl_node as owner on owner.id = node_id
      union all
      select 'catalog', catalog_id, node, host_id, due_at from discovery.crawl_target where index_id is not null
      union all
      select 'enumeration', name, null, null, due_at from discovery.crawl_source
    ) as work left join discovery.crawl_host as host on host.id = host_id
    where work.due_at is not null and (${node}::text is null or node = ${node}) order by at, what, name limit ${limit}`);
}

export function findLastLook(queryable: Queryable, node: string) {
  return queryable.first<{ checkedAt: Date | null }>(sql`select checked_at as "checkedAt"
    from discovery.crawl_node where node = ${node} and (named or has_masters)`);
}

/** The database's clock, which decides what is due. */
export function readClock(queryable: Queryable) {
  return queryable.value<Date>('select clock_timestamp() as now');
}

export async function isEnumerated(queryable: Queryable): Promise<boolean> {
  return !(await queryable.has(sql`select from discovery.crawl_source
    where due_at <= now() or leased_until > now() limit 1`));
}

export async function isCrawled(queryable: Queryable, node: string): Promise<boolean> {
  return !(await queryable.has(sql`
    select from discovery.crawl_node as node where node = ${node} and (
      due_at <= now()
      or exists (select from discovery.crawl_index where node_id = node.id and due_at <= now())
      or exists (select from discovery.crawl_target where node_id = node.id and due_at <= now() and index_id is not null)
    )`));
}

export function listCrawledCatalogs(queryable: Queryable, node: string, catalogIds?: readonly string[]) {
  return queryable.rows<CatalogStatus>(sql`
    select catalog_id as "catalogId", case when is_master then 'MASTER' else 'REGULAR' end as type, ${standing} as state,
      version, entry_version as "entryVersion", applied_entry_version as "appliedEntryVersion", resources,
      waiting_for as "waitingFor", failures, last_code as "lastCode", due_at as "nextAt"
    from discovery.crawl_target as target
    where node = ${node} and (${catalogIds}::text[] is null or catalog_id = any(${catalogIds})) order by catalog_id`);
}

/** Whether the discovery service has no due or running work: it has subscribed, pulled, and read every known node. */
export function isAtRest(queryable: Queryable) {
  return queryable.value<boolean>(sql`select not exists (
      select from discovery.feed where configured and (subscription_id is null or run is not null or pull_at <= now())
    ) and not exists (
      select from discovery.crawl_source where due_at <= now() or leased_until > now()
    ) and not exists (
      select from discovery.crawl_host where due_at <= now() or leased_until > now()
    )`);
}

// The crawler's side of `signpost check`: its progress with each catalog of self-hosted nodes.

export type CrawledVersion = Pick<
  CatalogStatus,
  'catalogId' | 'entryVersion' | 'appliedEntryVersion' | 'lastCode'
> & { node: string };

export function listCrawledBehind(
  queryable: Queryable,
  { ids, limit }: { ids?: readonly string[]; limit: number },
) {
  return queryable.rows<CrawledVersion>(sql`select node, catalog_id as "catalogId", entry_version as "entryVersion",
      applied_entry_version as "appliedEntryVersion", last_code as "lastCode"
    from discovery.crawl_target
    where named and relevant and retired_at is null and entry_version is not null and settled_digest is distinct from digest
      and (${ids}::text[] is null or catalog_id = any (${ids}))
    order by node, catalog_id limit ${limit}`);
}
