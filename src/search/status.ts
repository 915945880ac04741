import type { Queryable } from '../storage/database.ts';
import { type IndexFormats, indexFormats, newestOf } from './format/index-format.ts';
import { readState } from './reindex/index-state.ts';
import { type IndexProcess, listProcesses } from './reindex/processes.ts';

// Beside port.ts, the only file that is imported from outside: a command that tells how the index stands loads a quarter of the engine.

/** Where the index stands between versions, for its operator. */
export interface IndexStatus {
  /** The newest version that this program knows. */
  newest: number;
  /** The version that catalogs are written in, and rebuilt for. */
  version: number;
  /** Ahead of the other one while searches learn of it. */
  next: number;
  /** How many catalogs have entries of each version, the newest first. */
  catalogs: { version: number; count: number }[];
  /** One that has had its turn in part. */
  begun: { id: string; documents: number }[];
  /** A process has the lease of the rebuild now. */
  isRebuilding: boolean;
  /** Those that are alive. A rebuild for a newer version waits for the older ones. */
  processes: IndexProcess[];
}

export async function readIndexStatus(
  queryable: Queryable,
  formats: IndexFormats = indexFormats,
): Promise<IndexStatus> {
  const state = await readState(queryable, formats);
  const [catalogs, begun, leases] = await Promise.all([
    queryable.query<{ version: number; count: number }>(
      `select index_version as version, count(*) as count from discovery.catalog where provider_id <> ''
       group by index_version order by index_version desc`,
    ),
    queryable.query<{ id: string; documents: number }>(
      `select id, (select count(*) from discovery.resource as one
           where one.key > catalog.key << 26 and one.key < (catalog.key << 26) + reindexed_below) as documents
       from discovery.catalog where reindexed_below > 0 limit 10`,
    ),
    queryable.query('select from discovery.index_state where leased_until > now()'),
  ]);
  return {
    newest: newestOf(formats).version,
    ...state,
    catalogs: catalogs.rows.map(({ version, count }) => ({ version, count: Number(count) })),
    begun: begun.rows.map(({ id, documents }) => ({ id, documents: Number(documents) })),
    isRebuilding: leases.rowCount > 0,
    processes: await listProcesses(queryable),
  };
}
