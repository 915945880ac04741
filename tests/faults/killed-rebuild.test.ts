import { performance } from 'node:perf_hooks';
import { it } from 'vitest';
import { takeTime, until } from '../support/time.ts';
import { type FaultRun, faultOptions, type Outcome, strikes, times } from './fault-run.ts';
import { createOutdatedIndex } from './outdated-index.ts';

// Processes that rebuild an index of an older version are killed one after another. Searches find the same as before throughout the rebuild; at the
// end the index matches the documents.

const maxSteps = 12;

it(
  'a rebuild of the index that is killed at any moment changes no answer, and the next process goes on from there',
  faultOptions,
  strikes('SIGKILL during an index rebuild', killRebuilds, { isKill: true }),
);

async function killRebuilds(run: FaultRun): Promise<Outcome> {
  const total = { acknowledged: 0, lost: 0, appliedTwice: 0 };
  for (let left = times(2, 40); left > 0; ) {
    const index = await createOutdatedIndex();
    try {
      let killedAt: number | undefined;
      for (let isDone = false; !isDone; ) {
        const rebuilding = index.startRebuilding();
        const steps = left > 0 ? run.between(0, maxSteps) : Number.POSITIVE_INFINITY;
        if (killedAt !== undefined)
          await run.recover(killedAt, () => until(() => rebuilding.steps() > 0, 'the rebuild to go on'));
        await until(async () => {
          if (rebuilding.steps() >= steps || rebuilding.isDone()) return true;
          total.lost += await index.countDiffering();
          return false;
        }, 'the next kill, or the end of the rebuild');
        if (left > 0) await takeTime(run.between(0, 5));
        isDone = rebuilding.isDone();
        await rebuilding.kill();
        killedAt = performance.now();
        if (!isDone) run.count();
        left -= 1;
        total.lost += await index.countDiffering();
      }
      total.acknowledged += index.searches;
      await index.compare(total);
    } finally {
      await index.close();
    }
  }
  return total;
}
