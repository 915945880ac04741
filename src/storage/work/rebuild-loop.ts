import { settle, startWorkLoop, type WorkLoop, type WorkLoopOptions } from './due-work.ts';

/** Assembles again what extends a master that has changed. `rebuildSome` does a part, and says whether there was something to do. One master at a time and process: publishes and crawls come first. */
export function startRebuildLoop(
  where: Pick<WorkLoopOptions<DueRebuild>, 'database' | 'table' | 'logger'>,
  rebuildSome: (masterKey: number) => Promise<boolean>,
): WorkLoop {
  return startWorkLoop<DueRebuild>({
    ...where,
    concurrency: 1,
    async handle(claim, signal) {
      while (await rebuildSome(claim.row.master_key)) signal.throwIfAborted();
      // A version that came meanwhile has made the rebuild due again, and it stays so.
      await settle(where.database, where.table, claim, { dueInMs: null, set: { attempts: 0 } });
    },
  });
}

interface DueRebuild {
  master_key: number;
}
