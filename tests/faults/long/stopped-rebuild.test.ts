import { performance } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { takeTime, until } from '../../support/time.ts';
import { type FaultRun, faultOptions, type Outcome, strikes } from '../fault-run.ts';
import { createOutdatedIndex } from '../outdated-index.ts';

const stops = 5;
const maxSteps = 12;
const takeoverMs = 30_000;

it(
  'a rebuild of the index that stands still at any moment is gone on with by another process within 30 s, and adds nothing when it goes on',
  faultOptions,
  strikes('SIGSTOP during an index rebuild, taken over', stopRebuilds),
);

async function stopRebuilds(run: FaultRun): Promise<Outcome> {
  const total = { acknowledged: 0, lost: 0, appliedTwice: 0 };
  for (let stop = 0; stop < stops; stop++) {
    const index = await createOutdatedIndex();
    try {
      const stopped = index.startRebuilding();
      const steps = run.between(1, maxSteps);
      await until(() => stopped.steps() >= steps || stopped.isDone(), 'the rebuild');
      await takeTime(run.between(0, 5));
      stopped.halt();
      const stoppedAt = performance.now();
      run.count();
      total.lost += await index.countDiffering();
      const next = index.startRebuilding();
      await run.recover(stoppedAt, () =>
        until(() => next.isDone(), 'another process to go on', 2 * takeoverMs),
      );
      expect(performance.now() - stoppedAt).toBeLessThan(takeoverMs);
      stopped.goOn();
      await Promise.all([stopped.ended, next.ended]);
      total.lost += await index.countDiffering();
      total.acknowledged += index.searches;
      await index.compare(total);
    } finally {
      await index.close();
    }
  }
  return total;
}
