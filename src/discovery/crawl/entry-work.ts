import type { HostLease } from '../../storage/crawl/hosts.ts';
import { recheckNode } from '../../storage/crawl/nodes.ts';
import { recordTarget, type TargetChanges, type TargetRow } from '../../storage/crawl/targets.ts';
import { settlePrecedence } from '../../storage/feeds/precedence.ts';
import type { CrawlContext } from './context.ts';
import { CrawlFault, doubtsNode, type ReadingFault } from './reasons.ts';
import { nextAttemptMs, recheckSpacingMs } from './schedule.ts';
import { type About, logFaults } from './tell.ts';

// The work on one entry, and its end if nothing was applied: finished, or tried again.

export interface HostedWork<Row> {
  context: CrawlContext;
  lease: HostLease;
  row: Row;
  signal: AbortSignal;
}

export type EntryWork = HostedWork<TargetRow>;

/** The entry is finished: nothing more to do until a new one. */
export async function settle(work: EntryWork, changes: TargetChanges, faults: readonly ReadingFault[]) {
  const { context, lease, row } = work;
  const [fault] = faults;
  await context.database.transaction(async (tx) => {
    const settled = {
      settled_digest: row.digest,
      failures: 0,
      last_code: fault?.code ?? null,
      waiting_for: null,
    };
    await recordTarget(tx, lease, row, { ...settled, ...changes }, null);
    await settlePrecedence(tx, [{ owner: row.node, id: row.catalog_id }]);
    await logFaults(tx, context, aboutOf(row), faults);
  });
}

/** It is tried again, whatever its index answers meanwhile. */
export async function postpone(
  work: EntryWork,
  faults: readonly ReadingFault[],
  more: Pick<TargetChanges, 'waiting_for'> = {},
): Promise<void> {
  const { context, lease, row } = work;
  const failures = row.failures + 1;
  const pauses = faults.map((fault) => (fault instanceof CrawlFault && fault.retryAfterMs) || 0);
  const dueInMs = nextAttemptMs(failures, Math.random(), Math.max(0, ...pauses));
  await context.database.transaction(async (tx) => {
    const changes = { failures, last_code: faults[0]?.code ?? null, ...more };
    if (faults.some(doubtsNode)) await recheckNode(tx, row.node_id, recheckSpacingMs);
    await recordTarget(tx, lease, row, changes, dueInMs);
    await logFaults(tx, context, aboutOf(row), faults);
  });
}

function aboutOf({ node, index_url: indexUrl, catalog_id: catalogId }: TargetRow): About {
  return { node, indexUrl, catalogId };
}
