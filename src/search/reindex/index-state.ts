import type { Database, Queryable } from '../../storage/database.ts';
import { firstWithReach, type IndexFormats, newestOf } from '../format/index-format.ts';
import { writeReach } from '../write/reach.ts';
import { writeSiblings } from '../write/siblings.ts';
import { isAlive } from './processes.ts';

// How the index goes from one version to the next, while processes search and write it:
//
//   announced   every process has announced which version it knows (processes.ts); while one of an older version is alive, nothing begins
//   next        searches look for entries of the next version, too; for as long as a search may take, no process writes any
//   version     new catalogs are written in it, and all others are rebuilt, one by one (rebuild.ts)

export interface IndexState {
  /** New catalogs are written in it, and all others are brought to it. */
  version: number;
  /** Searches look for its entries, too. */
  next: number;
}

export async function readState(queryable: Queryable, formats: IndexFormats): Promise<IndexState> {
  const { rows } = await queryable.query<IndexState>('select version, next from discovery.index_state');
  const { version } = newestOf(formats);
  return rows[0] ?? { version, next: version };
}

/** Takes the next step towards the newest version that this process knows, if it can be taken now. */
export async function advanceVersion(
  database: Database,
  formats: IndexFormats,
  { graceMs }: { graceMs: number },
): Promise<IndexState> {
  const newest = newestOf(formats).version;
  return database.transaction(async (tx) => {
    // The ends of an index tell it: `exists` would read all catalogs, because PostgreSQL expects to find some of another version soon.
    const { rows } = await tx.query<
      IndexState & { oldest: number | null; latest: number | null; isSeen: boolean; hasOlder: boolean }
    >(
      `select version, next, next_since < now() - $1 * interval '1 millisecond' as "isSeen",
         (select min(index_version) from discovery.catalog) as oldest, (select max(index_version) from discovery.catalog) as latest,
         exists (select from discovery.index_process where version < $2 and ${isAlive}) as "hasOlder"
       from discovery.index_state for update`,
      [graceMs, newest],
    );
    const [state] = rows;
    if (state === undefined) return readState(tx, formats);
    let { version, next } = state;
    const isEmpty = state.oldest === null;
    const isMixed = !isEmpty && (state.oldest !== version || state.latest !== version);
    if (next < newest && version === next && !isMixed && !state.hasOlder) next = newest;
    if (state.next < firstWithSiblings && next >= firstWithSiblings) await writeSiblings(tx);
    if (state.next < firstWithReach && next >= firstWithReach) await writeReach(tx);
    if (version < next && (isEmpty || (state.isSeen && next === state.next))) version = next;
    if (version !== state.version || next !== state.next)
      await tx.query(
        `update discovery.index_state
         set version = $1, next = $2, next_since = case when next = $2 then next_since else now() end`,
        [version, next],
      );
    return { version, next };
  });
}

/** Which catalogs have siblings is written since this version of the code, and how far offers reach since a later one. No process of an older one is alive when it becomes the next one. */
const firstWithSiblings = 2;

/** One process at a time rebuilds: the one that has the lease, or gets it now. */
export async function takeLease(queryable: Queryable, token: string): Promise<boolean> {
  const { rowCount } = await queryable.query(
    `update discovery.index_state set lease_token = $1, leased_until = now() + $2 * interval '1 millisecond'
     where lease_token = $1 or leased_until is null or leased_until < now()`,
    [token, leaseMs],
  );
  return rowCount > 0;
}

export async function releaseLease(queryable: Queryable, token: string): Promise<void> {
  await queryable.query(
    'update discovery.index_state set lease_token = null, leased_until = null where lease_token = $1',
    [token],
  );
}

/** Longer than one step of a rebuild takes. A process that died loses it within 30 s, as it loses all work (ARCHITECTURE.md, principle 4). */
const leaseMs = 30_000;
