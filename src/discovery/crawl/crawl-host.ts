import type { HostRow } from '../../storage/crawl/hosts.ts';
import type { IndexRow, PolledIndex } from '../../storage/crawl/indexes.ts';
import { takeDueTargets } from '../../storage/crawl/targets.ts';
import type { Claim } from '../../storage/work/due-work.ts';
import { type ApplyCatalog, catalogsTogether } from './apply-entry.ts';
import type { CrawlContext } from './context.ts';
import { crawlEntry } from './crawl-entry.ts';
import { crawlIndex } from './crawl-index.ts';
import { crawlNode } from './crawl-node.ts';
import { type Fetcher, hostOf } from './fetch.ts';
import { itemsPerRound } from './host-work.ts';
import { CrawlFault, type ReadingFault } from './reasons.ts';
import { restMs } from './schedule.ts';

// Does all due work at one host: nodes, then indexes, then entries, because each stage finds work for the next. The host is leased as a whole, so
// that processes share the work; every result is written under the lease.

/** After this time, other hosts get a turn. */
const sliceMs = 30_000;

/** Repeats until nothing is due, the host has failed, or others have waited long enough. */
export async function crawlHost(
  context: CrawlContext,
  apply: ApplyCatalog,
  claim: Claim<HostRow>,
  signal: AbortSignal,
): Promise<void> {
  const { work: hosts } = context.hosts;
  const finish = hosts.begin();
  const end = performance.now() + sliceMs;
  let { failures } = claim.row;
  try {
    for (let isOver = false; !isOver; ) {
      const { hasMore, fault, worked, ...result } = await workOnce(context, apply, claim, signal);
      signal.throwIfAborted();
      if (fault) failures += 1;
      else if (worked) failures = 0;
      isOver = !hasMore || fault !== undefined || performance.now() >= end;
      const resting = fault ? restMs(failures, Math.random(), fault.retryAfterMs) : null;
      if (!isOver && result.unchanged.length + result.fetched.length === 0) continue;
      await hosts.record({ claim, ...result, ...(isOver && { release: { failures, restMs: resting } }) });
    }
  } finally {
    finish();
  }
}

async function workOnce(
  context: CrawlContext,
  apply: ApplyCatalog,
  claim: Claim<HostRow>,
  signal: AbortSignal,
) {
  const { database, now, config } = context;
  const { work: hosts, spared } = context.hosts;
  const { nodes, indexes, hasTargets } = await hosts.take(claim.id);
  const { host } = claim.row;
  const work = { lease: claim, signal };
  const where = { host, signal };
  const fetcher = spared(host);
  const unchanged: PolledIndex[] = [];
  if (nodes.length > 0) {
    // The node's files decide which of its indexes count, and whether this is still its host.
    const fault = await performAll(nodes, where, (row) =>
      withRoom(context, fetcher, (own) => crawlNode({ ...work, context: own, row })),
    );
    return { unchanged, fetched: [], worked: true, hasMore: true, fault };
  }
  const meters = createMeters(fetcher, config.CRAWL_DAILY_LIMIT);

  let fault = await performAll(indexes, where, async (row) => {
    const outcome = await withRoom(context, meters.of(row), (own) =>
      crawlIndex({ ...work, context: own, row }),
    );
    if (outcome.kind === 'unchanged') unchanged.push({ row, dueInMs: outcome.dueInMs });
    return outcome.kind === 'failed' ? outcome.fault : undefined;
  });
  const isRead = unchanged.length < indexes.length;
  const targets = hasTargets || isRead ? await takeDueTargets(database, claim.id, itemsPerRound, now()) : [];
  // MASTER catalogs come first, so catalogs that extend them need not wait.
  for (const isMaster of [true, false]) {
    const rows = targets.filter((row) => row.is_master === isMaster);
    fault ??= await performAll(rows, where, (row) =>
      withRoom(context, meters.of(row), (own) => crawlEntry({ ...work, context: own, row }, apply)),
    );
  }
  return {
    ...{ unchanged, fetched: meters.fetched(), worked: indexes.length + targets.length > 0, fault },
    hasMore: isRead || [indexes, targets].some(({ length }) => length === itemsPerRound),
  };
}

/** Does one task, with room for its files in memory until it is done. */
async function withRoom<T>(context: CrawlContext, fetcher: Fetcher, work: (own: CrawlContext) => Promise<T>) {
  const share = context.hosts.room();
  try {
    return await work({ ...context, reader: { ...context.reader, fetcher, share } });
  } finally {
    share.close();
  }
}

/** Stops at the first failure of the host: the rest must wait. */
async function performAll<Row>(
  rows: readonly Row[],
  { host, signal }: { host: string; signal: AbortSignal },
  perform: (row: Row) => Promise<ReadingFault | undefined>,
): Promise<CrawlFault | undefined> {
  let next = 0;
  let fault: CrawlFault | undefined;
  const work = async () => {
    for (let row = rows[next]; row !== undefined; row = rows[next]) {
      if (fault || signal.aborted) return;
      next += 1;
      const outcome = await perform(row);
      if (!(outcome instanceof CrawlFault && outcome.hostFailed)) continue;
      // Files may be at other hosts, whose failures do not affect this one.
      if (outcome.url === undefined || hostOf(outcome.url) === host) fault = outcome;
    }
  };
  const working = Array.from({ length: Math.min(itemsUnderWay, rows.length) }, work);
  const outcomes = await Promise.allSettled(working);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return fault;
}

/** Enough concurrent work to fill a transaction: more than concurrent fetches, because other items are being checked. */
const itemsUnderWay = catalogsTogether;

type Metered = Pick<IndexRow, 'node_id' | 'node' | 'fetched_today'>;

/** Counts the bytes from each node, and stops when one has reached its daily limit. */
export function createMeters(fetcher: Fetcher, dailyBytes: number) {
  const counts = new Map<number, { bytes: number }>();
  return {
    of({ node_id: id, node, fetched_today: before }: Metered): Fetcher {
      const count = counts.get(id) ?? { bytes: 0 };
      counts.set(id, count);
      return {
        async fetch(url, options) {
          if (before + count.bytes >= dailyBytes)
            throw new CrawlFault('daily-quota', `The daily limit of ${node} is reached.`, { url });
          try {
            const fetched = await fetcher.fetch(url, options);
            if (fetched.kind === 'file') count.bytes += fetched.file.wire.length;
            return fetched;
          } catch (error) {
            // It was too large only after many bytes.
            if (error instanceof CrawlFault && error.code === 'too-large') count.bytes += options.maxBytes;
            throw error;
          }
        },
      };
    },
    fetched: () => [...counts].flatMap(([nodeId, { bytes }]) => (bytes > 0 ? [{ nodeId, bytes }] : [])),
  };
}
