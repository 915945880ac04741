import { sha256Digest } from '../../protocol/digest.ts';
import { parseInstant } from '../../protocol/time.ts';
import type { Steps } from '../../rules/self-hosted/check-file.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import { catalogIdOf } from '../../rules/self-hosted/trust-index.ts';
import {
  countEntries,
  type IndexEffects,
  type IndexRow,
  postponeIndex,
  type ReadEntry,
  type ReadIndex,
  recordIndex,
} from '../../storage/crawl/indexes.ts';
import { type LogLine, writeLog } from '../../storage/crawl/log.ts';
import { recheckNode } from '../../storage/crawl/nodes.ts';
import { judgeKeys } from '../../storage/crawl/targets.ts';
import type { Transaction } from '../../storage/database.ts';
import { settlePrecedence } from '../../storage/feeds/precedence.ts';
import type { CrawlContext } from './context.ts';
import type { HostedWork } from './entry-work.ts';
import { type IndexReading, readIndex } from './read-index.ts';
import { crawledNode } from './read-node.ts';
import { askRegistry, inTurns } from './reader.ts';
import { asReadingFault, CrawlFault, doubtsNode, passes, type ReadingFault } from './reasons.ts';
import { nextAttemptMs, nextPollMs, recheckSpacingMs } from './schedule.ts';
import { pollingOf } from './settings.ts';
import { lineOf, logFaults } from './tell.ts';

// The index stage: an index is fetched and verified, and its entries are recorded as targets. The entry stage has separate due times.

type IndexWork = HostedWork<IndexRow>;

type IndexOutcome =
  | { kind: 'unchanged'; dueInMs: number }
  | { kind: 'read' }
  | { kind: 'failed'; fault: ReadingFault };

export async function crawlIndex(work: IndexWork): Promise<IndexOutcome> {
  const { context, row, signal } = work;
  const { reader, now } = context;
  try {
    const unasked = await checkKeys(work);
    const isStale = row.next_update !== null && row.next_update <= now();
    const node = crawledNode(reader, row);
    const read = await readIndex(reader, node, row.url, { ...(!isStale && { known: row }), signal });
    if (read.kind === 'unchanged') {
      if (unasked) throw unasked;
      return { kind: 'unchanged', dueInMs: pollAfterMs(context, row.next_update ?? undefined) };
    }
    await record(work, read, unasked);
    return { kind: 'read' };
  } catch (error) {
    const fault = asReadingFault(error, signal);
    await postpone(work, fault);
    return { kind: 'failed', fault };
  }
}

/**
 * Looks up the keys of applied content again. Content signed by a revoked key is hidden until it is signed again; expired and rotated keys hide
 * nothing. If a lookup fails, nothing changes, and the fault is returned.
 */
async function checkKeys({ context, lease, row }: IndexWork): Promise<CrawlFault | undefined> {
  const { database, registry, now } = context;
  const asked = row.keys.map((key) => askRegistry(() => registry.lookup(row.node, key)));
  const answers = await Promise.allSettled(asked);
  const revoked: string[] = [];
  const unasked: string[] = [];
  let fault: CrawlFault | undefined;
  for (const [index, key] of row.keys.entries()) {
    const answer = answers[index];
    if (answer?.status === 'fulfilled') {
      if (answer.value?.state === 'revoked') revoked.push(key);
      continue;
    }
    if (!(answer?.reason instanceof CrawlFault)) throw answer?.reason;
    fault = answer.reason;
    unasked.push(key);
  }
  if (revoked.length === 0 && !row.has_unverified) return fault;
  await database.transaction(async (tx) => {
    const changed = await judgeKeys(tx, lease, row.node_id, { revoked, unasked }, now());
    const ids = changed.map(({ catalogId }) => catalogId);
    await settle(tx, row.node, ids);
    const hidden = changed.filter(({ unverified }) => unverified);
    const lines = hidden.map(({ catalogId }) => {
      const message = `A key that signed ${catalogId} was revoked: ${revoked.join(', ')}.`;
      const about = { node: row.node, indexUrl: row.url, catalogId };
      return lineOf(context, about, new CrawlFault('key-revoked', message));
    });
    await writeLog(tx, lines, now());
  });
  return fault;
}

async function record(
  { context, lease, row }: IndexWork,
  read: IndexReading,
  unasked: CrawlFault | undefined,
): Promise<void> {
  const { database, config, now } = context;
  const at = now();
  const { nextUpdate: announced } = read.index;
  const nextUpdate = announced === undefined ? undefined : (parseInstant(announced) ?? at);
  // After a failed lookup, the registry is tried again soon.
  const isUnasked = unasked !== undefined || read.faults.some(({ fault }) => passes(fault));
  const failures = isUnasked ? row.failures + 1 : 0;
  const dueInMs = isUnasked ? nextAttemptMs(failures, Math.random()) : pollAfterMs(context, nextUpdate);
  const hideUnconfirmed = config.UNCONFIRMED === 'hide';
  const digested = await inTurns(readIndexOf(read, nextUpdate));
  await database.transaction(async (tx) => {
    if (read.faults.some(({ fault }) => doubtsNode(fault)))
      await recheckNode(tx, row.node_id, recheckSpacingMs);
    const outcome = { now: at, dueInMs, failures, hideUnconfirmed };
    const effects = await recordIndex(tx, lease, row, digested, outcome);
    await judgeNumber(tx, context, row);
    await settle(tx, row.node, [...effects.absent, ...effects.returned, ...effects.retired]);
    const isStale = nextUpdate !== undefined && nextUpdate <= at;
    const told = unasked ? [lineOf(context, { node: row.node, indexUrl: row.url }, unasked)] : [];
    await writeLog(tx, [...told, ...linesOf(context, row, read, effects, isStale)], at);
  });
}

/** Limits the entries of all indexes of a node. Throws beyond the limit, which keeps the earlier content. */
async function judgeNumber(tx: Transaction, { reader }: CrawlContext, { node, node_id: id }: IndexRow) {
  const { maxEntries } = reader.limits;
  const entries = await countEntries(tx, id);
  if (entries <= maxEntries) return;
  const message = `The indexes of ${node} have ${entries} entries together; at most ${maxEntries} are read.`;
  throw new TrustFault('index', 'too-many-entries', message);
}

function* readIndexOf(read: IndexReading, nextUpdate: Date | undefined): Steps<ReadIndex> {
  const { index, entries, faults, etag, modified, digest } = read;
  const received = new Map(index.entries.map((entry) => [catalogIdOf(entry), entry]));
  const digested: ReadEntry[] = [];
  for (const { entry } of entries) {
    const document = JSON.stringify(received.get(entry.catalogId));
    digested.push({
      catalogId: entry.catalogId,
      entryVersion: entry.entryVersion,
      isMaster: entry.catalogType === 'MASTER',
      isRetired: entry.retiredAt !== undefined,
      digest: sha256Digest(Buffer.from(document)),
      document,
    });
    if (digested.length % entriesPerStep === 0) yield;
  }
  // If the registry may change its answer about a key, the index is read again although it is unchanged.
  const isFinal = !faults.some(({ fault }) => keyFaults.includes(fault.code));
  return {
    ...(isFinal && { etag, modified, digest }),
    ...{ nextUpdate, entries: digested },
    discarded: faults.map(({ catalogId }) => catalogId).filter((id) => id !== undefined),
  };
}

const entriesPerStep = 500;
const keyFaults = ['key-unknown', 'key-unusable', 'node-unknown', 'registry-unavailable'];

function linesOf(
  context: CrawlContext,
  { node, url: indexUrl }: IndexRow,
  { faults }: IndexReading,
  { absent, repeated }: IndexEffects,
  isStale: boolean,
): LogLine[] {
  const line = (fault: ReadingFault, catalogId?: string) =>
    lineOf(context, { node, indexUrl, catalogId }, fault);
  return [
    ...faults.map(({ catalogId, fault }) => line(fault, catalogId)),
    ...absent.map((id) => line(new CrawlFault('absent', `${id} is no longer in any index of ${node}.`), id)),
    ...repeated.map((id) =>
      line(new CrawlFault('in-two-indexes', `${id} is in several indexes of ${node}.`), id),
    ),
    ...(isStale ? [line(new CrawlFault('stale', `The index at ${indexUrl} is past its next_update.`))] : []),
  ];
}

async function settle(tx: Transaction, owner: string, ids: readonly string[]): Promise<void> {
  const refs = ids.map((id) => ({ owner, id }));
  await settlePrecedence(tx, refs);
}

function pollAfterMs({ config, now }: CrawlContext, nextUpdate: Date | undefined): number {
  return nextPollMs(nextUpdate, pollingOf(config), { now: now(), random: Math.random() });
}

async function postpone({ context, lease, row }: IndexWork, fault: ReadingFault): Promise<void> {
  const retryAfterMs = fault instanceof CrawlFault ? fault.retryAfterMs : undefined;
  const dueInMs = nextAttemptMs(row.failures + 1, Math.random(), retryAfterMs);
  await context.database.transaction(async (tx) => {
    if (doubtsNode(fault)) await recheckNode(tx, row.node_id, recheckSpacingMs);
    await postponeIndex(tx, lease, row, dueInMs);
    await logFaults(tx, context, { node: row.node, indexUrl: row.url }, [fault]);
  });
}
