import { TooMuchHere } from '../../rules/inherited-bytes.ts';
import {
  adoptDependent,
  findLaggingCatalog,
  findLostDependent,
  findMaster,
  rebuildTable,
} from '../../storage/crawl/rebuilds.ts';
import { lockPrecedence } from '../../storage/feeds/precedence.ts';
import type { WorkLoop } from '../../storage/work/due-work.ts';
import { startRebuildLoop } from '../../storage/work/rebuild-loop.ts';
import type { ApplyAside } from './apply-aside.ts';
import { applyingOf } from './apply-entry.ts';
import type { CrawlContext } from './context.ts';
import { rebuildBatch } from './rebuild-batch.ts';

/** Dependents of a changed crawled master are assembled again, some resources at a time, in a thread if it is much work. */
export function startRebuilds(context: CrawlContext, aside: ApplyAside): WorkLoop {
  const { database, logger } = context;
  const applying = applyingOf(context);
  const where = { database, table: rebuildTable, logger };
  return startRebuildLoop(where, async (masterKey) => {
    const lost = await findLostDependent(database, masterKey);
    if (lost) {
      await database.transaction(async (tx) => {
        await lockPrecedence(tx, [{ owner: lost.node, id: lost.catalogId }]);
        await adoptDependent(tx, lost, masterKey);
      });
      return true;
    }
    const master = await findMaster(database, masterKey);
    const dependent = master && (await findLaggingCatalog(database, masterKey, master.version));
    if (dependent === undefined) return false;
    await rebuildBatch(applying, dependent, masterKey).catch((error) => {
      if (!(error instanceof TooMuchHere)) throw error;
      return aside.rebuild(dependent, masterKey);
    });
    return true;
  });
}
