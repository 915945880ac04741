import { type HostRow, hostTable, nextDueOfHost, noteReached } from '../../storage/crawl-hosts.ts';
import { type IndexRow, recordUnchanged, takeDueIndexes } from '../../storage/crawl-indexes.ts';
import { takeDueNodes } from '../../storage/crawl-nodes.ts';
import { takeDueTargets } from '../../storage/crawl-targets.ts';
import { type Claim, settle } from '../../storage/due-work.ts';
import type { CrawlContext } from './context.ts';
import { crawlEntry } from './crawl-entry.ts';
import { crawlIndex } from './crawl-index.ts';
import { crawlNode } from './crawl-node.ts';
import { CrawlFault, type ReadingFault } from './reasons.ts';
import { restUntil } from './schedule.ts';

// Does what is due at one host, a few things at a time: nodes first, then indexes, then entries, because each stage finds work for the next.
// The host is leased as a whole, so that processes share the work without asking a host together; every result is written under the lease.

const itemsAtOnce = 2;
const itemsPerRound = 100;
/** Then others get their turn. */
const sliceMs = 30_000;

export async function crawlHost(
  context: CrawlContext,
  claim: Claim<HostRow>,
  signal: AbortSignal,
): Promise<void> {
  const { database, now } = context;
  const end = now().getTime() + sliceMs;
  let failures = claim.row.failures;
  let resting: Date | undefined;
  while (resting === undefined && now().getTime() < end && !signal.aborted) {
    const { worked, fault } = await workOnce(context, claim, signal);
    if (fault) {
      failures += 1;
      resting = restUntil(failures, { now: now(), random: Math.random() }, fault.retryAfterMs);
    } else if (worked) failures = 0;
    if (!worked) break;
  }
  signal.throwIfAborted();
  await database.transaction(async (tx) => {
    if (resting || failures !== claim.row.failures) {
      await noteReached(tx, claim, { failures, restUntil: resting ?? null });
    }
    const dueAt = await nextDueOfHost(tx, claim.id);
    await settle(tx, hostTable, claim, { dueAt, set: { attempts: 0 } });
  });
}

interface Round {
  worked: boolean;
  /** The host itself is in trouble. */
  fault?: CrawlFault;
}

async function workOnce(context: CrawlContext, claim: Claim<HostRow>, signal: AbortSignal): Promise<Round> {
  const { database, now } = context;
  const [nodes, indexes, targets] = [
    await takeDueNodes(database, claim.id, itemsPerRound),
    await takeDueIndexes(database, claim.id, itemsPerRound, now()),
    await takeDueTargets(database, claim.id, itemsPerRound, now()),
  ];
  const unchanged: { row: IndexRow; dueAt: Date }[] = [];
  const entries = (isMaster: boolean) =>
    targets
      .filter((row) => row.is_master === isMaster)
      .map((row) => () => crawlEntry(context, claim, row, signal));
  const items: (() => Promise<ReadingFault | undefined>)[] = [
    ...nodes.map((row) => () => crawlNode(context, claim, row, signal)),
    ...indexes.map((row) => async () => {
      const outcome = await crawlIndex(context, claim, row, signal);
      if (outcome.kind === 'unchanged') unchanged.push({ row, dueAt: outcome.dueAt });
      return outcome.kind === 'failed' ? outcome.fault : undefined;
    }),
    ...entries(true),
  ];
  // What extends a MASTER catalog begins when that is done, so that it need not wait for it.
  const fault = (await performAll(items, signal)) ?? (await performAll(entries(false), signal));
  await database.transaction((tx) => recordUnchanged(tx, claim, unchanged));
  return { worked: items.length + targets.length > 0, ...(fault && { fault }) };
}

/** Stops at the first fault of the host: what is left had better wait. */
async function performAll(
  items: readonly (() => Promise<ReadingFault | undefined>)[],
  signal: AbortSignal,
): Promise<CrawlFault | undefined> {
  let next = 0;
  let fault: CrawlFault | undefined;
  const work = async () => {
    for (let item = items[next]; item !== undefined; item = items[next]) {
      if (fault || signal.aborted) return;
      next += 1;
      const outcome = await item();
      if (outcome instanceof CrawlFault && outcome.hostFailed) fault = outcome;
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: itemsAtOnce }, work));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return fault;
}
