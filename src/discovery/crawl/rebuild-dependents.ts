import { TooMuchHere } from '../../rules/inherited-bytes.ts';
import {
  type DueRebuild,
  findLaggingCatalog,
  findMaster,
  rebuildsChannel,
  rebuildTable,
} from '../../storage/crawl/rebuilds.ts';
import { type Claim, settle, startWorkLoop, type WorkLoop } from '../../storage/work/due-work.ts';
import type { ApplyAside } from './apply-aside.ts';
import { applyingOf } from './apply-entry.ts';
import type { CrawlContext } from './context.ts';
import { rebuildBatch } from './rebuild-batch.ts';

// When a crawled master moves, what extends it is assembled anew, some resources at a time (rebuild-batch.ts). The template's values stand, also
// where the publisher had set others before; what the master dropped, its dependents keep as they inherited it last.

const rebuildsAtOnce = 1;

export function startRebuilds(context: CrawlContext, aside: ApplyAside): WorkLoop {
  return startWorkLoop<DueRebuild>({
    database: context.database,
    table: rebuildTable,
    channel: rebuildsChannel,
    concurrency: rebuildsAtOnce,
    logger: context.logger,
    handle: (claim, signal) => rebuild(context, aside, claim, signal),
  });
}

async function rebuild(
  context: CrawlContext,
  aside: ApplyAside,
  claim: Claim<DueRebuild>,
  signal: AbortSignal,
): Promise<void> {
  const { database } = context;
  const applying = applyingOf(context);
  const masterKey = claim.row.master_key;
  for (;;) {
    signal.throwIfAborted();
    const master = await findMaster(database, masterKey);
    const dependent = master && (await findLaggingCatalog(database, masterKey, master.version));
    if (dependent === undefined) break;
    await rebuildBatch(applying, dependent, masterKey).catch((error) => {
      if (!(error instanceof TooMuchHere)) throw error;
      return aside.rebuild(dependent, masterKey);
    });
  }
  // A version that came meanwhile has made the rebuild due again, and it stays so.
  await settle(database, rebuildTable, claim, { dueInMs: null, set: { attempts: 0 } });
}
