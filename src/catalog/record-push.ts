import type { Lane } from '../delivery/lane-loop.ts';
import type { Pushed, Verdict } from '../delivery/push-loop.ts';
import { applyOutcome, type PushOutcome } from '../rules/push-outcome.ts';
import { createBatch } from '../storage/batch.ts';
import { type PushResult, writePushResults } from '../storage/catalog/push-results.ts';
import type { DuePush } from '../storage/catalog/pushes.ts';
import { LeaseLost } from '../storage/work/due-work.ts';
import { exchangesToKeep } from '../storage/work/history.ts';
import { maxPartBytes, type Said } from './compose-push.ts';
import type { CatalogContext } from './context.ts';

// Records what became of a push, for as many as come together at once, and tells the operator what went wrong.

/** No receiver waits for its result to be written; its next push of the same catalog does. */
const batchLimits = { maxItems: 500, gatherMs: 10 };

export function createPushRecorder({ database, logger }: CatalogContext) {
  const writeBatch = createBatch(batchLimits, (results: PushResult[]) => writePushResults(database, results));

  async function write(result: PushResult): Promise<void> {
    if (!(await writeBatch(result))) throw new LeaseLost('catalog.push', result.push.id);
  }

  return {
    async record(push: DuePush, lane: Lane, { verdict, said, exchanges }: Pushed<Said>) {
      const outcome = outcomeOf(verdict, said);
      const applied = applyOutcome(push.record, outcome, { maxPartBytes, at: push.takenAt });
      const { dueInMs, restMs } = applied;
      const record = { ...applied.record, form: verdict.form ?? applied.record.form };
      const { version } = outcome.kind === 'acknowledged' ? outcome.said : push.basis.catalog;
      const history = exchangesToKeep(exchanges, {
        isDelivered: outcome.kind === 'acknowledged',
        failedBefore: push.record.lastError !== null,
      });
      await write({ push, lane, record, seenVersion: version, dueInMs, restMs, history });
      if (record.lastError === null) return;
      const { subscriber, basis } = push;
      const { state, lastStatus: status, lastError: reason } = record;
      const level = state === 'pending' || state === 'acknowledged' ? 'info' : 'warn';
      logger[level](
        { subscriber, catalogId: basis.catalogId, status, reason, dueInMs },
        `push ${outcome.kind}: ${state}`,
      );
    },

    /** Nothing was tried: the push is due as before. */
    putBack: (push: DuePush, lane: Lane) =>
      write({ push, lane, record: push.record, seenVersion: push.basis.catalog.version, dueInMs: 0 }),
  };
}

function outcomeOf(verdict: Verdict, said: Said | undefined): PushOutcome {
  if (verdict.kind === 'failed' || verdict.kind === 'refused') return verdict;
  if (verdict.kind === 'delivered' && said?.kind === 'catalog')
    return { kind: 'acknowledged', status: verdict.status, remark: verdict.remark, said };
  if (said?.kind === 'no endpoint')
    return { kind: 'no endpoint', reason: 'the registry has no url for this subscriber' };
  return { kind: 'nothing to say' };
}
