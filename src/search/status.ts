import type { Queryable } from '../storage/database.ts';
import { type IndexFormats, indexFormats, newestOf } from './entries/index-format.ts';
import { type BuildState, readBuildState } from './generations/in-use.ts';
import { type IndexProcess, listProcesses } from './generations/processes.ts';

// Besides port.ts, the only file that is imported from outside: a command that shows the state of the index loads a quarter of the engine.

/** The generations of the index, for its operator. */
export interface IndexStatus extends BuildState {
  /** The newest version of entries that this program supports. */
  newest: number;
  catalogs: number;
  /** The indexes in OpenSearch, if any was ever used. */
  openSearch?: { name: string | null; building: string | null };
  /** A process has the lease of the build now. */
  isBuilding: boolean;
  /** Live processes. A generation of a newer version waits for the older ones. */
  processes: IndexProcess[];
}

export async function readIndexStatus(
  queryable: Queryable,
  formats: IndexFormats = indexFormats,
): Promise<IndexStatus> {
  const [state, catalogs, leases, openSearch] = await Promise.all([
    readBuildState(queryable),
    queryable.value<number>("select count(*) from discovery.catalog where provider_id <> ''"),
    queryable.value<number>('select count(*) from discovery.generation where leased_until > now()'),
    queryable.first<NonNullable<IndexStatus['openSearch']>>(
      'select name, building from discovery.external_index',
    ),
  ]);
  return {
    newest: newestOf(formats).version,
    ...state,
    ...(openSearch && { openSearch }),
    catalogs,
    isBuilding: leases > 0,
    processes: await listProcesses(queryable),
  };
}
