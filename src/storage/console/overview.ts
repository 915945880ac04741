import type { Queryable } from '../database.ts';
import { countOrEstimate, countUpTo, deliveries } from './counts.ts';

// What there is, in numbers and names, for the console.

const maxNetworks = 200;

/** The networks that participants are members of, and whether anybody is crawled. */
export async function listKnownNetworks(
  queryable: Queryable,
): Promise<{ networks: string[]; isCrawling: boolean }> {
  const { rows } = await queryable.query<{ networks: string[]; isCrawling: boolean }>(
    `select exists (select from discovery.crawl_source) as "isCrawling", array(
       select distinct network_id from registry.membership order by 1 limit $1
     ) as networks`,
    [maxNetworks],
  );
  return rows[0] ?? { networks: [], isCrawling: false };
}

export interface Overview {
  catalogs: number;
  resources: number;
  participants: number;
  subscriptions: number;
  nodes: number;
  deliveries: { waiting: number; parked: number; oldestWaitingAt: Date | null };
  /** Nodes of which something could not be read lately (their manifest or record, an index, a catalog); and such catalogs. */
  crawl: { failing: number; failingCatalogs: number };
  index: { version: number; resources: number };
}

const countedRows = 100_000;
const countedDeliveries = 10_000;
/** Resources are wide rows; of more, PostgreSQL's estimate is told. */
const countedResources = 10_000;

const count = (rows: string, bound: number) => countUpTo(bound, rows);

/** As the list of nodes judges them (storage/crawl/status.ts); by partial indexes, which have little in them. */
const failingNodes = `(
    select id from discovery.crawl_node where failures > 0
    union select node_id from discovery.crawl_index where failures > 0 and listed
    union select node_id from discovery.crawl_target where failures > 0
  ) as failing join discovery.crawl_node using (id) where named or has_masters`;

/** All that is due or parked is counted up to a bound, so that a long queue does not make it slow. */
export async function readOverview(queryable: Queryable): Promise<Overview> {
  const { rows } = await queryable.query<OverviewRow>(
    `select ${count('discovery.catalog', countedRows)} as indexed, ${count('catalog.catalog', countedRows)} as published,
       ${countOrEstimate(countedResources, 'discovery.resource', 'discovery.resource')} as resources,
       ${count('registry.participant', countedRows)} as participants,
       ${count("catalog.subscription where status = 'ACTIVE'", countedRows)} as subscriptions,
       ${count('discovery.crawl_node where named or has_masters', countedRows)} as nodes,
       ${count(failingNodes, countedRows)} as failing, ${count('discovery.crawl_target where failures > 0', countedRows)} as "failingCatalogs",
       ${count(deliveries.waitingCallbacks, countedDeliveries)} as "waitingCallbacks",
       ${count(deliveries.waitingPushes, countedDeliveries)} as "waitingPushes",
       ${count(deliveries.parkedCallbacks, countedDeliveries)} as "parkedCallbacks",
       ${count(deliveries.parkedPushes, countedDeliveries)} as "parkedPushes",
       least(
         (select min(created_at) from (select created_at from ${deliveries.waitingCallbacks} limit ${countedDeliveries}) as callbacks),
         (select min(since) from (
           select coalesce(failing_since, due_at) as since from ${deliveries.waitingPushes} limit ${countedDeliveries}
         ) as pushes)
       ) as "oldestWaitingAt",
       (select version from discovery.generation where state = 'in use') as version`,
  );
  const row = rows[0];
  if (row === undefined) throw new Error('the database told nothing');
  const { resources } = row;
  return {
    catalogs: Math.max(row.indexed, row.published),
    resources,
    participants: row.participants,
    subscriptions: row.subscriptions,
    nodes: row.nodes,
    deliveries: {
      waiting: row.waitingCallbacks + row.waitingPushes,
      parked: row.parkedCallbacks + row.parkedPushes,
      oldestWaitingAt: row.oldestWaitingAt,
    },
    crawl: { failing: row.failing, failingCatalogs: row.failingCatalogs },
    index: { version: row.version, resources },
  };
}

interface OverviewRow {
  indexed: number;
  published: number;
  resources: number;
  participants: number;
  subscriptions: number;
  nodes: number;
  failing: number;
  failingCatalogs: number;
  waitingCallbacks: number;
  waitingPushes: number;
  parkedCallbacks: number;
  parkedPushes: number;
  oldestWaitingAt: Date | null;
  version: number;
}
