import type { Queryable } from '../database.ts';

// What `signpost check` holds against the files of self-hosted nodes: how far the crawler is with each catalog.

export interface CrawledVersion {
  node: string;
  catalogId: string;
  /** Of the entry that counts, and of the one that was applied last. */
  entryVersion: number | null;
  appliedEntryVersion: number | null;
  /** What is indexed. */
  version: number | null;
  lastCode: string | null;
}

const columns = `node, catalog_id as "catalogId", entry_version as "entryVersion", applied_entry_version as "appliedEntryVersion", version,
  last_code as "lastCode"`;

/** Catalogs whose newest entry is not dealt with, although it is time. */
export function listCrawledBehind(
  queryable: Queryable,
  { ids, limit }: { ids?: readonly string[]; limit: number },
) {
  return queryable.rows<CrawledVersion>(
    `select ${columns} from discovery.crawl_target
     where named and relevant and retired_at is null and entry_version is not null and settled_digest is distinct from digest
       and ($1::text[] is null or catalog_id = any ($1))
     order by node, catalog_id limit $2`,
    [ids ?? null, limit],
  );
}

/** All that is known of the catalogs of a node, by id. */
export async function findCrawledVersions(queryable: Queryable, node: string) {
  const { rows } = await queryable.query<CrawledVersion>(
    `select ${columns} from discovery.crawl_target where node = $1`,
    [node],
  );
  return new Map(rows.map((row) => [row.catalogId, row]));
}
