import type { Queryable } from '../database.ts';
import { sql } from '../sql.ts';
import { countOrEstimate, countUpTo, deliveries } from './counts.ts';

// Counts and names for the console's overview.

const maxNetworks = 200;

export function listKnownNetworks(queryable: Queryable) {
  return queryable.one<{ networks: string[]; isCrawling: boolean }>(sql`
    select exists (select from discovery.crawl_source) as "isCrawling", array(
      select distinct network_id from registry.membership order by 1 limit ${maxNetworks}
    ) as networks`);
}

export interface Overview {
  catalogs: number;
  resources: number;
  participants: number;
  subscriptions: number;
  nodes: number;
  deliveries: { waiting: number; parked: number; oldestWaitingAt: Date | null };
  /** Nodes with a recent reading failure (of their manifest or record, an index, a catalog); and such catalogs. */
  crawl: { failing: number; failingCatalogs: number };
  index: { version: number; resources: number };
}

const countedRows = 100_000;
const countedDeliveries = 10_000;
/** Resources are wide rows; above this number, PostgreSQL's estimate is shown. */
const countedResources = 10_000;

/** The same judgement as in the list of nodes (storage/crawl/status.ts), by small partial indexes. */
const failingNodes = sql`(
    select id from discovery.crawl_node where failures > 0
    union select node_id from discovery.crawl_index where failures > 0 and listed
    union select node_id from discovery.crawl_target where failures > 0
  ) as failing join discovery.crawl_node using (id) where named or has_masters`;

/** Due and parked rows are counted up to a bound, so that a long queue does not make it slow. */
export async function readOverview(queryable: Queryable): Promise<Overview> {
  const row = await queryable.one<OverviewRow>(sql`
    select ${countUpTo(countedRows, sql`discovery.catalog`)} as indexed, ${countUpTo(countedRows, sql`catalog.catalog`)} as published,
      ${countOrEstimate(countedResources, sql`discovery.resource`, 'discovery.resource')} as resources,
      ${countUpTo(countedRows, sql`registry.participant`)} as participants,
      ${countUpTo(countedRows, sql`catalog.subscription where status = 'ACTIVE'`)} as subscriptions,
      ${countUpTo(countedRows, sql`discovery.crawl_node where named or has_masters`)} as nodes,
      ${countUpTo(countedRows, failingNodes)} as failing,
      ${countUpTo(countedRows, sql`discovery.crawl_target where failures > 0`)} as "failingCatalogs",
      ${countUpTo(countedDeliveries, deliveries.waitingCallbacks)} as "waitingCallbacks",
      ${countUpTo(countedDeliveries, deliveries.waitingPushes)} as "waitingPushes",
      ${countUpTo(countedDeliveries, deliveries.parkedCallbacks)} as "parkedCallbacks",
      ${countUpTo(countedDeliveries, deliveries.parkedPushes)} as "parkedPushes",
      least(
        (select min(created_at) from (select created_at from ${deliveries.waitingCallbacks} limit ${countedDeliveries}) as callbacks),
        (select min(since) from (
          select coalesce(failing_since, due_at) as since from ${deliveries.waitingPushes} limit ${countedDeliveries}
        ) as pushes)
      ) as "oldestWaitingAt",
      (select version from discovery.generation where state = 'in use') as version`);
  const { indexed, published, failing, failingCatalogs, version, oldestWaitingAt, ...rest } = row;
  const { waitingCallbacks, waitingPushes, parkedCallbacks, parkedPushes, ...counts } = rest;
  const waiting = waitingCallbacks + waitingPushes;
  return {
    ...counts,
    catalogs: Math.max(indexed, published),
    deliveries: { waiting, parked: parkedCallbacks + parkedPushes, oldestWaitingAt },
    crawl: { failing, failingCatalogs },
    index: { version, resources: counts.resources },
  };
}

type Counts = Pick<Overview, 'resources' | 'participants' | 'subscriptions' | 'nodes'>;
type Bounded = keyof typeof deliveries | 'indexed' | 'published' | 'failing' | 'failingCatalogs' | 'version';
type OverviewRow = Counts & Record<Bounded, number> & { oldestWaitingAt: Date | null };
