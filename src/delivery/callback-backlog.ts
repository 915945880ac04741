import type { Logger } from '../logger.ts';
import { ProtocolError } from '../protocol/errors.ts';
import type { Database } from '../storage/database.ts';
import { type CallbackShare, listCallersOwedMore, purgeUndelivered } from '../storage/work/callbacks.ts';
import { repeat } from './repeat.ts';

// How many callbacks one caller may have waiting, and one receiver undelivered. They are stored until they are delivered: without a share for each,
// a caller that asks for large answers and takes none would fill the disk for everybody.

interface CallbackBacklogOptions {
  role: string;
  database: Database;
  logger: Logger;
}

/** A publisher that listens to nothing has its on_publish kept for a day. */
const waitingShare: CallbackShare = { rows: 100_000, bytes: 256 * 1024 * 1024 };
/** Undelivered callbacks that an operator may inspect and replay. */
const undeliveredShare: CallbackShare = { rows: 1_000, bytes: 64 * 1024 * 1024 };
const sampleEveryMs = 5_000;
const purgeEveryMs = 60_000;
const retryAfterSeconds = 10;

export function watchCallbackBacklog({ role, database, logger }: CallbackBacklogOptions) {
  let crowded: ReadonlySet<string> = new Set();
  const sampler = repeat(
    { what: 'measuring waiting callbacks', everyMs: sampleEveryMs, logger },
    async () => {
      crowded = new Set(await listCallersOwedMore(database, role, waitingShare));
    },
  );
  const purger = repeat(
    { what: 'purging undelivered callbacks', everyMs: purgeEveryMs, logger },
    async () => {
      const purged = await purgeUndelivered(database, undeliveredShare);
      if (purged > 0)
        logger.warn({ purged }, 'more callbacks were not delivered than are kept; the oldest are gone');
    },
  );
  return {
    /** Throws NET_OVERLOADED for a caller with too many undelivered callbacks. */
    admit(identity: string) {
      if (!crowded.has(identity)) return;
      const message = `Too many callbacks wait until ${identity} takes them. Try again later.`;
      throw new ProtocolError('NET_OVERLOADED', message, { retryAfterSeconds });
    },
    async close() {
      await Promise.all([sampler.close(), purger.close()]);
    },
  };
}
