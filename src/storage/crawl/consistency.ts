import type { Queryable } from '../database.ts';
import { sql } from '../sql.ts';

// The crawler's side of `signpost check`: how far it is with each catalog of self-hosted nodes.

export interface CrawledVersion {
  node: string;
  catalogId: string;
  /** Version of the entry that counts, and of the one applied last. */
  entryVersion: number | null;
  appliedEntryVersion: number | null;
  version: number | null;
  lastCode: string | null;
}

const columns = sql`node, catalog_id as "catalogId", entry_version as "entryVersion", applied_entry_version as "appliedEntryVersion", version,
  last_code as "lastCode"`;

/** Catalogs whose newest entry is not dealt with, although it is time. */
export function listCrawledBehind(
  queryable: Queryable,
  { ids, limit }: { ids?: readonly string[]; limit: number },
) {
  return queryable.rows<CrawledVersion>(sql`select ${columns} from discovery.crawl_target
    where named and relevant and retired_at is null and entry_version is not null and settled_digest is distinct from digest
      and (${ids}::text[] is null or catalog_id = any (${ids}))
    order by node, catalog_id limit ${limit}`);
}
