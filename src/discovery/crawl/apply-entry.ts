import type { Extender } from '../../rules/self-hosted/extend.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import type { TrustedEntry } from '../../rules/self-hosted/trust-index.ts';
import { type IndexWriter, writeIndex } from '../../search/port.ts';
import { createBatch } from '../../storage/batch.ts';
import { hostTable, keepLeases } from '../../storage/crawl/hosts.ts';
import { writeLog } from '../../storage/crawl/log.ts';
import { lockArrivals } from '../../storage/crawl/masters.ts';
import { queueRebuild } from '../../storage/crawl/rebuilds.ts';
import { countOtherResources, recordApplied, wakeWaiting } from '../../storage/crawl/targets.ts';
import type { Transaction } from '../../storage/database.ts';
import { lockPrecedence, settlePrecedence } from '../../storage/feeds/precedence.ts';
import { LeaseLost } from '../../storage/work/due-work.ts';
import { cursorOf, incomingOf, resourceIdsOf } from './applied-entry.ts';
import {
  type Applicable,
  type Assembly,
  assembleReading,
  overriddenFault,
  recordExtensions,
} from './assemble.ts';
import type { CrawlContext } from './context.ts';
import { type EntryWork, linesOf } from './entry-work.ts';
import { CrawlFault, endsWork } from './reasons.ts';
import { nextAttemptMs } from './schedule.ts';

// What was read goes into the index. Content and cursor move in one transaction: the index never has a part of a file, and nothing is applied
// twice. Small catalogs that are ready at the same time go together, whichever hosts they are of, because the statements of each alone would
// cost more than their rows.

/** A catalog that was read. */
export interface ReadCatalog {
  work: EntryWork;
  trusted: TrustedEntry;
  reading: Applicable;
  /** Whose the MASTER catalogs are that its entry declares. */
  declared: Extender['declared'];
}

/** Returns the master resources that are missing, where there are some: then nothing has happened. */
export type ApplyCatalog = (read: ReadCatalog) => Promise<string[]>;

/** Written in one transaction. */
export const catalogsTogether = 50;
const documentsTogether = 2_500;
/** While one waits for the database, another prepares what it writes. */
const lanes = 3;
/** How far a first crawl went is logged this often, while so many catalogs are applied in that time. */
const progressEveryMs = 10_000;
const minLogged = 100;

export function createApplier(context: CrawlContext): ApplyCatalog {
  const batches = Array.from({ length: lanes }, () =>
    createBatch<ReadCatalog, Outcome>({ maxItems: catalogsTogether, gatherMs: 1 }, (reads) =>
      applySome(context, reads),
    ),
  );
  const applied = context.metrics.counter(
    'signpost_crawl_applied_total',
    'Catalogs that the crawler brought up to date',
  );
  const logProgress = createProgressLog(context);
  return async (read) => {
    const outcome = await batches[read.work.lease.id % lanes]?.(read);
    if (outcome === undefined || 'error' in outcome) throw outcome?.error;
    if (outcome.missing.length === 0) {
      applied.inc();
      logProgress();
    }
    return outcome.missing;
  };
}

function createProgressLog({ logger, now }: CrawlContext): () => void {
  let catalogs = 0;
  let loggedAt = now().getTime();
  return () => {
    catalogs += 1;
    if (catalogs < minLogged || now().getTime() - loggedAt < progressEveryMs) return;
    logger.info({ catalogs, seconds: Math.round((now().getTime() - loggedAt) / 1_000) }, 'crawling');
    catalogs = 0;
    loggedAt = now().getTime();
  };
}

type Outcome = { missing: string[] } | { error: unknown };

/** Where one of several is at fault, each is judged on its own. */
async function applySome(context: CrawlContext, reads: readonly ReadCatalog[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const part of partsOf(reads)) {
    try {
      outcomes.push(...(await applyPart(context, part)));
    } catch (error) {
      if (endsWork(error)) throw error;
      if (part.length === 1) outcomes.push({ error });
      else for (const read of part) outcomes.push(...(await applySome(context, [read])));
    }
  }
  return outcomes;
}

/**
 * Not too much at a time. MASTER catalogs go alone: who extends several holds them one after the other, and must not wait for one while another
 * is waited for.
 */
function partsOf(reads: readonly ReadCatalog[]): ReadCatalog[][] {
  const parts: ReadCatalog[][] = [];
  let documents = Number.POSITIVE_INFINITY;
  for (const read of reads) {
    const more = isMaster(read) ? documentsTogether : documentsOf(read);
    documents += more;
    if (documents <= documentsTogether) parts.at(-1)?.push(read);
    else {
      parts.push([read]);
      documents = more;
    }
  }
  return parts;
}

/** At least one, so that nothing comes after a MASTER catalog. */
function documentsOf({ reading }: ReadCatalog): number {
  if (reading.kind === 'nothing') return 1;
  const { resources, offers } = reading.kind === 'full' ? reading.content : upsertsOf(reading);
  return Math.max(1, resources.size + offers.size);
}

function isMaster({ trusted }: Pick<ReadCatalog, 'trusted'>): boolean {
  return trusted.entry.catalogType === 'MASTER';
}

function upsertsOf({ patch }: Extract<Applicable, { kind: 'patch' }>) {
  return { resources: patch.resources.upserts, offers: patch.offers.upserts };
}

function applyPart(context: CrawlContext, part: readonly ReadCatalog[]): Promise<Outcome[]> {
  return context.database.transaction((tx) =>
    writeIndex(tx, context.now(), (writer) => applyTogether(tx, writer, context, part)),
  );
}

async function applyTogether(
  tx: Transaction,
  writer: IndexWriter,
  context: CrawlContext,
  reads: readonly ReadCatalog[],
): Promise<Outcome[]> {
  const held = await keepLeases(
    tx,
    reads.map(({ work }) => work.lease),
  );
  await lockPrecedence(
    tx,
    reads.map(({ work }) => refOf(work)),
  );
  const outcomes: Outcome[] = [];
  const ready: Assembled[] = [];
  for (const read of reads) {
    const { lease } = read.work;
    if (!held.has(lease.id)) {
      outcomes.push({ error: new LeaseLost(hostTable, lease.id) });
      continue;
    }
    const assembly = await assemble(tx, read);
    outcomes.push({ missing: assembly.kind === 'waiting' ? assembly.missing : [] });
    if (assembly.kind === 'assembled') ready.push({ ...read, ...assembly });
  }
  if (ready.length > 0) await write(tx, writer, context, ready);
  return outcomes;
}

type Assembled = ReadCatalog & Extract<Assembly, { kind: 'assembled' }>;

function assemble(tx: Transaction, { work, trusted, reading, declared }: ReadCatalog): Promise<Assembly> {
  const { row, context } = work;
  const { networkIds = [] } = trusted.entry;
  const extender: Extender = { node: row.node, networkIds, declared };
  return assembleReading(tx, row.id, reading, { extender, checker: context.reader.checker() });
}

async function write(
  tx: Transaction,
  writer: IndexWriter,
  context: CrawlContext,
  ready: readonly Assembled[],
): Promise<void> {
  const now = context.now();
  const incoming = ready.map(({ work, trusted, reading }) => incomingOf(work.row, trusted, reading));
  const applied = await writer.apply(incoming);
  for (const { work, reading, extended } of ready) await recordExtensions(tx, work.row, reading, extended);
  const keys = new Map(applied.map(({ owner, id, key }) => [refText({ owner, id }), key]));
  const keyOf = ({ work }: Assembled) => keys.get(refText(refOf(work))) ?? 0;

  const resources = await judgeSizes(tx, writer, ready, keyOf, context.config.CRAWL_MAX_RESOURCES);
  await recordApplied(
    tx,
    ready.map(({ work: { row }, trusted, reading }, index) => {
      const dueInMs = reading.complete ? null : nextAttemptMs(row.failures + 1, Math.random());
      return { ...cursorOf(row, trusted, reading), resources: resources[index] ?? 0, due_in_ms: dueInMs };
    }),
  );
  await settlePrecedence(tx, applied);
  const lines = ready.flatMap(({ work, reading, extended }) =>
    linesOf(work, [...reading.faults, ...overriddenFault(work.row.catalog_id, extended)]),
  );
  await writeLog(tx, lines, now);

  for (const master of ready.filter(isMaster)) {
    const { work, reading } = master;
    await queueRebuild(tx, keyOf(master));
    await lockArrivals(tx);
    await wakeWaiting(tx, work.lease, [work.row.catalog_id, ...resourceIdsOf(reading)]);
  }
}

/** How many resources each has. Throws when one would be empty, or a node have too much: then nothing of them is applied. */
async function judgeSizes(
  tx: Transaction,
  writer: IndexWriter,
  ready: readonly Assembled[],
  keyOf: (one: Assembled) => number,
  maxResources: number,
): Promise<number[]> {
  const counts = await writer.count(ready.map(keyOf));
  const others = await countOtherResources(
    tx,
    ready.map(({ work }) => work.row),
  );
  return ready.map((one) => {
    const { node, node_id: nodeId, catalog_id: catalogId } = one.work.row;
    const { resources = 0, offers = 0 } = counts.get(keyOf(one)) ?? {};
    if (resources + offers === 0) {
      throw new TrustFault('change', 'empty-catalog', `Nothing would be left of ${catalogId}.`);
    }
    const all = (others.get(nodeId) ?? 0) + resources;
    others.set(nodeId, all);
    if (all > maxResources) {
      throw new CrawlFault('too-many-resources', `${node} has ${all} resources; ${maxResources} are kept.`);
    }
    return resources;
  });
}

function refOf({ row }: EntryWork): { owner: string; id: string } {
  return { owner: row.node, id: row.catalog_id };
}

function refText({ owner, id }: { owner: string; id: string }): string {
  return JSON.stringify([owner, id]);
}
