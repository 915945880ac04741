import { settle, startWorkLoop, type WorkLoop, type WorkLoopOptions } from './due-work.ts';

/** Assembles again what extends a changed master. `rebuildSome` does a part, and returns whether there was something to do. One master at a time per process: publishes and crawls come first. */
export function startRebuildLoop(
  where: Pick<WorkLoopOptions<DueRebuild>, 'database' | 'table' | 'logger'>,
  rebuildSome: (masterKey: number) => Promise<boolean>,
): WorkLoop {
  return startWorkLoop<DueRebuild>({
    ...where,
    concurrency: 1,
    async handle(claim, signal) {
      while (await rebuildSome(claim.row.master_key)) signal.throwIfAborted();
      // If a version came meanwhile, the rebuild became due again, and stays due.
      await settle(where.database, where.table, claim, { dueInMs: null, set: { attempts: 0 } });
    },
  });
}

interface DueRebuild {
  master_key: number;
}
