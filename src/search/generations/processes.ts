import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { repeat } from '../../delivery/repeat.ts';
import type { Logger } from '../../logger.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import { type IndexFormats, newestOf, UnknownIndexVersion } from '../entries/index-format.ts';
import { readWritten } from './in-use.ts';

// Processes that use the index announce their newest version of entries. A newer generation is begun when all processes of older versions have ended.

const heartbeatMs = 5_000;
/** A process without a heartbeat for this time has ended: not one that is only overloaded or was paused for a moment. */
const deadAfterMs = 120_000;

/** SQL condition on a row of discovery.index_process. */
export const isAlive = `seen_at > now() - ${deadAfterMs} * interval '1 millisecond'`;

export interface IndexProcess {
  name: string;
  version: number;
  seenAt: Date;
}

export interface AnnouncedProcess {
  /** Throws UnknownIndexVersion if a generation of a version that this process does not support was begun while it sent no heartbeats. */
  check(): void;
  close(): Promise<void>;
}

/** Announces this process until it is closed. Throws UnknownIndexVersion if the index has, or will soon have, entries that it cannot read. */
export async function announceProcess(
  { database, logger, everyMs = heartbeatMs }: { database: Database; logger: Logger; everyMs?: number },
  formats: IndexFormats,
): Promise<AnnouncedProcess> {
  const id = randomUUID();
  const { version } = newestOf(formats);
  let outrun: UnknownIndexVersion | undefined;
  await database.transaction(async (tx) => {
    // This locks the generations: either a process that is about to begin a newer one sees this process, or this process sees the newer one.
    await readWritten(tx, formats);
    await beat(tx, id, version);
  });
  const what = 'recording that this process uses the index';
  const heartbeat = repeat({ what, everyMs, logger }, async () => {
    // All other connections may be busy for longer than a process counts as alive.
    const next = await beat(database.apart, id, version);
    if (next <= version) outrun = undefined;
    else if (outrun === undefined) {
      outrun = new UnknownIndexVersion(next, formats);
      logger.error({ err: outrun }, 'this process can neither search nor write the index any more');
    }
  });
  return {
    check() {
      if (outrun) throw outrun;
    },
    async close() {
      await heartbeat.close();
      // If the database is down, other processes delete the row when heartbeats are missing.
      await database
        .query('delete from discovery.index_process where id = $1', [id])
        .catch((error) => logger.debug({ err: error }, 'cannot record that this process has ended'));
    },
  };
}

/** Also deletes the rows of processes that ended without closing. Returns the newest version that searches must support. */
async function beat(queryable: Queryable, id: string, version: number): Promise<number> {
  const next = await queryable.value<number | null>(
    `with forgotten as (delete from discovery.index_process where id <> $1 and not ${isAlive})
     insert into discovery.index_process (id, name, version) values ($1, $2, $3)
     on conflict (id) do update set seen_at = now()
     returning (select max(version) from discovery.generation where state <> 'retired')`,
    [id, `process ${process.pid} on ${hostname()}`, version],
  );
  return next ?? version;
}

export function listProcesses(queryable: Queryable): Promise<IndexProcess[]> {
  return queryable.rows(`select name, version, seen_at as "seenAt" from discovery.index_process
    where ${isAlive} order by version, name`);
}
