import type { Database } from '../../../src/storage/database.ts';
import { until } from '../time.ts';

/**
 * Crawled catalogs of a configured network as the crawler leaves them, all served, and no longer in any index of their nodes. Catalog `c1` is the
 * first of node `n1`.
 */
export async function seedCrawled(
  database: Database,
  { network, nodes, ofEach }: { network: string; nodes: number; ofEach: number },
): Promise<void> {
  await database.query(`insert into discovery.crawl_host (host) values ('nodes.invalid')`);
  await database.query(
    `with node as (
       insert into discovery.crawl_node (node, host_id)
       select 'n' || n || '.invalid/subscribers.beckn.one', host.id from generate_series(1, $2::integer) as n, discovery.crawl_host as host returning id
     )
     insert into discovery.crawl_naming (source_id, node_id, present)
     select source.id, node.id, true from node, discovery.crawl_source as source where kind = 'network' and name = $1`,
    [network, nodes],
  );
  await database.query(
    `insert into discovery.crawl_target (node_id, node, host_id, catalog_id, is_master, version, unconfirmed_since)
     select id, node, host_id, 'c' || row_number() over (order by id, n), false, 1, now() from discovery.crawl_node, generate_series(1, $1::integer) as n`,
    [ofEach],
  );
  await database.query(
    `insert into discovery.catalog (source, owner, id, type, head, head_digest, provider_id, schema_uses, schema_types, is_active, updated_at, generation)
     select 'node', node, catalog_id, 'REGULAR', '{}', target.id, 'p', '{}', '{}', true, now(), 1
     from discovery.crawl_target as target`,
  );
  await database.query('analyze');
}

/** How many catalogs of a source searches may find, once it is decided which copies count. */
export async function countServed(database: Database, source: string): Promise<number> {
  await until(async () => (await database.query('select from discovery.unsettled limit 1')).rowCount === 0);
  const { rows } = await database.query<{ served: number }>(
    `select count(*) as served from discovery.catalog where served and source = $1 and provider_id <> ''`,
    [source],
  );
  return rows[0]?.served ?? 0;
}
