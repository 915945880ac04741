import type { Queryable } from '../database.ts';

// Whether something has changed, at a constant cost: the last of each numbered kind, and PostgreSQL's own counts of written rows, which follow within
// seconds.

/** By topic: a different text means that something of it has changed. */
export type Markers = Record<
  'catalog' | 'delivery' | 'crawl' | 'publish' | 'subscription' | 'health' | 'operator',
  string
>;

const writtenRows = (table: string) =>
  ['inserted', 'updated', 'deleted']
    .map((what) => `pg_stat_get_tuples_${what}('${table}'::regclass)`)
    .join(' + ');

const statement = `select
  concat_ws(' ', (select max(id) from catalog.change_log), (select xid::text from discovery.change order by change.xid desc limit 1)) as catalog,
  concat_ws(' ', (select max(id) from work.callback), ${writtenRows('work.callback')}, ${writtenRows('catalog.push')}) as delivery,
  concat_ws(' ', (select max(at) from discovery.crawl_log), ${writtenRows('discovery.crawl_node')}, ${writtenRows('discovery.crawl_target')}) as crawl,
  concat_ws(' ', (select max(id) from catalog.submission), ${writtenRows('catalog.submission')}) as publish,
  concat_ws(' ', ${writtenRows('catalog.subscription')}, ${writtenRows('discovery.feed')}) as subscription,
  concat_ws(' ', (select max(at) from console.minute), (select max(at) from console.empty_search)) as health,
  (${writtenRows('console.operator')})::text as operator`;

const timeoutMs = 5_000;

export function readMarkers(queryable: Queryable) {
  return queryable.one<Markers>(statement, [], { timeoutMs });
}
