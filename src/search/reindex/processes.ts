import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { repeat } from '../../delivery/repeat.ts';
import type { Logger } from '../../logger.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import { type IndexFormats, newestOf, UnknownIndexVersion } from '../format/index-format.ts';
import type { IndexState } from './index-state.ts';

// Every process that uses the index tells which version it knows, and that it is alive. An index is rebuilt for a newer version when no process of an older one
// is left: that could neither read nor write the new entries.

const heartbeatMs = 5_000;
/** A process that was not heard of for so long has ended. */
const deadAfterMs = 30_000;

/** In SQL, of a row of discovery.index_process. */
export const isAlive = `seen_at > now() - ${deadAfterMs} * interval '1 millisecond'`;

export interface IndexProcess {
  name: string;
  version: number;
  seenAt: Date;
}

/**
 * Announces this process until it is closed. Throws where the index has, or is about to have, entries that the process cannot read.
 */
export async function announceProcess(
  { database, logger }: { database: Database; logger: Logger },
  formats: IndexFormats,
): Promise<{ close(): Promise<void> }> {
  const id = randomUUID();
  const { version } = newestOf(formats);
  await database.transaction(async (tx) => {
    // Whoever is about to raise the version sees this process, or this process sees the version.
    const { rows } = await tx.query<IndexState>('select version, next from discovery.index_state for share');
    const next = rows[0]?.next ?? version;
    if (next > version) throw new UnknownIndexVersion(next, formats);
    await beat(tx, id, version);
  });
  const heartbeat = repeat(
    { what: 'telling that this process uses the index', everyMs: heartbeatMs, logger },
    () => beat(database, id, version),
  );
  return {
    async close() {
      await heartbeat.close();
      await database.query('delete from discovery.index_process where id = $1', [id]);
    },
  };
}

/** Also forgets those that ended without a word. */
async function beat(queryable: Queryable, id: string, version: number): Promise<void> {
  await queryable.query(
    `with forgotten as (delete from discovery.index_process where id <> $1 and not ${isAlive})
     insert into discovery.index_process (id, name, version) values ($1, $2, $3)
     on conflict (id) do update set seen_at = now()`,
    [id, `process ${process.pid} on ${hostname()}`, version],
  );
}

export async function listProcesses(queryable: Queryable): Promise<IndexProcess[]> {
  const { rows } = await queryable.query<IndexProcess>(
    `select name, version, seen_at as "seenAt" from discovery.index_process where ${isAlive} order by version, name`,
  );
  return rows;
}
