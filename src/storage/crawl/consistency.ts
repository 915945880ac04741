import type { Queryable } from '../database.ts';
import { sql } from '../sql.ts';
import type { CatalogStatus } from './status.ts';

// The crawler's side of `signpost check`: how far it is with each catalog of self-hosted nodes.

export type CrawledVersion = Pick<
  CatalogStatus,
  'catalogId' | 'entryVersion' | 'appliedEntryVersion' | 'lastCode'
> & { node: string };

/** Catalogs whose newest entry is not dealt with, although it is time. */
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
