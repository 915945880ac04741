import { ProtocolError } from '../protocol/errors.ts';
import { type BacklogShare, countOpenSubmissions } from '../storage/catalog/submissions.ts';
import type { CatalogContext } from './context.ts';

// How much accepted work may wait. Every publisher has a share of its own, counted exactly by the transaction that accepts a publish. When all
// publishers together have more waiting than the service wants, the shares shrink to the same level for all, so that those with most waiting
// are refused first. Reads never ask.

const sampleEveryMs = 2_000;
const retryAfterSeconds = 2;

export type Backlog = ReturnType<typeof watchBacklog>;

export function watchBacklog({ config, database, metrics, logger }: CatalogContext) {
  const gauge = metrics.gauge('signpost_submissions_open', 'Accepted publishes that are not processed', []);
  let level = Number.POSITIVE_INFINITY;
  /** Until when a publisher was told to wait, on the clock of performance.now(). */
  const waiting = new Map<string, number>();
  const sample = async () => {
    const open = await countOpenSubmissions(database);
    gauge.set(open.reduce((sum, count) => sum + count, 0));
    level = fairLevel(open, config.OVERLOAD_BACKLOG);
  };
  const sampler = setInterval(() => {
    for (const [publisher, until] of waiting) if (until < performance.now()) waiting.delete(publisher);
    sample().catch((error) => logger.debug({ err: error }, 'cannot count open submissions'));
  }, sampleEveryMs).unref();
  const overloaded = (publisher: string) =>
    new ProtocolError(
      'NET_OVERLOADED',
      `Too many publishes of ${publisher} are waiting to be processed. Try again later.`,
      { retryAfterSeconds },
    );
  return {
    /** Throws NET_OVERLOADED for a publisher that was told a moment ago to wait: its body need not be parsed to tell it again. */
    admit(publisher: string) {
      if ((waiting.get(publisher) ?? 0) > performance.now()) throw overloaded(publisher);
    },
    share: (): BacklogShare => ({
      rows: Math.min(config.PUBLISHER_BACKLOG, level),
      bytes: config.PUBLISHER_BACKLOG_BYTES,
    }),
    /** The refusal of a publish that does not fit into its publisher's share. */
    refuse(publisher: string) {
      waiting.set(publisher, performance.now() + retryAfterSeconds * 1_000);
      return overloaded(publisher);
    },
    close: () => clearInterval(sampler),
  };
}

/** The largest number of waiting submissions per publisher with which all fit into the limit (max-min fairness); Infinity while all fit. At least one: nobody is refused for the backlog of others. */
export function fairLevel(open: readonly number[], limit: number): number {
  let left = limit;
  const ascending = [...open].sort((a, b) => a - b);
  for (const [index, count] of ascending.entries()) {
    const even = Math.floor(left / (ascending.length - index));
    if (count > even) return Math.max(1, even);
    left -= count;
  }
  return Number.POSITIVE_INFINITY;
}
