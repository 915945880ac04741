import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { repeat } from '../../delivery/repeat.ts';
import type { Logger } from '../../logger.ts';
import type { Metrics } from '../../metrics.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import type { IndexFormats } from '../format/index-format.ts';
import { createListRemovals } from '../lists/remove.ts';
import { advanceVersion, releaseLease, takeLease } from './index-state.ts';
import { rebuildPart } from './rebuild-catalog.ts';
import { findShortOfNumbers, type RenumberedPart, renumberPart } from './renumber.ts';

// Catalogs whose entries were made by another version of the code are rebuilt in the background, the newest first, in short transactions. Whichever process has the
// lease does it; what it has done is done, and another one goes on from there.

const lookEveryMs = 5_000;
const logEveryMs = 10_000;
/** Documents of one transaction. */
const documentsAtOnce = 2_000;
const catalogsAtOnce = 100;
/** The rebuild rests so long for each millisecond that it works: searches and writes come first. */
const restShare = 1;

interface RebuildContext {
  database: Database;
  logger: Logger;
  metrics?: Metrics;
  formats: IndexFormats;
  /** As long as a search may take that began before the next version was announced. */
  graceMs: number;
}

export function startRebuild(context: RebuildContext): { close(): Promise<void> } {
  const { logger } = context;
  return repeat({ what: 'rebuilding the index', everyMs: lookEveryMs, logger }, (signal) =>
    rebuildOutdated(context, signal),
  );
}

/** Rebuilds what is outdated, if this process gets the lease. */
export async function rebuildOutdated(context: RebuildContext, signal: AbortSignal): Promise<void> {
  const { database, formats, graceMs } = context;
  const { version } = await advanceVersion(database, formats, { graceMs });
  const left = await countOutdated(database, version);
  const progress = createProgress(context, version, left);
  const short = await findShortOfNumbers(database);
  if (left === 0 && short.length === 0) return;
  const token = randomUUID();
  const mayGoOn = async () => !signal.aborted && (await takeLease(database, token));
  try {
    await renumberShort(database, formats, short, mayGoOn);
    while (await mayGoOn()) {
      const startedAt = performance.now();
      const done = await rebuildNext(database, formats, version);
      if (done === undefined) break;
      await progress.note(done);
      await delay((performance.now() - startedAt) * restShare, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    await releaseLease(database, token);
  }
  await progress.end();
}

/** Long before catalogs come to the end of their numbers: with many documents that takes longer than one transaction may. */
async function renumberShort(
  database: Database,
  formats: IndexFormats,
  catalogKeys: readonly number[],
  mayGoOn: () => Promise<boolean>,
): Promise<void> {
  for (const key of catalogKeys)
    for (const kind of ['resource', 'offer'] as const) {
      let part: RenumberedPart | undefined;
      while (!part?.isDone && (await mayGoOn())) {
        const from = part;
        part = await database.transaction((tx) =>
          renumberPart(tx, key, kind, { formats, maxDocuments: documentsAtOnce, from }),
        );
      }
    }
}

interface RebuildStep {
  catalogs: number;
  documents: number;
}

/** One short transaction: some small catalogs, or a part of a large one. Undefined when nothing is left, or others are writing what is left. */
export async function rebuildNext(
  database: Database,
  formats: IndexFormats,
  version: number,
  maxDocuments = documentsAtOnce,
): Promise<RebuildStep | undefined> {
  const keys = await findOutdated(database, version, catalogsAtOnce);
  const step = await database.transaction(async (tx) => {
    const removals = createListRemovals();
    const done: RebuildStep & { parts: number } = { catalogs: 0, documents: 0, parts: 0 };
    for (const key of keys) {
      const left = maxDocuments - done.documents;
      if (left <= 0) break;
      const part = await rebuildPart(tx, removals, key, { version, formats, maxDocuments: left });
      if (part === undefined) continue;
      done.parts += 1;
      done.documents += part.documents;
      if (part.isDone) done.catalogs += 1;
    }
    await removals.write(tx);
    return done;
  });
  return step.parts === 0 ? undefined : { catalogs: step.catalogs, documents: step.documents };
}

/** The newest first; of several versions, those of the oldest. */
async function findOutdated(queryable: Queryable, version: number, limit: number): Promise<number[]> {
  const { rows } = await queryable.query<{ key: number }>(
    `select key from discovery.catalog
     where index_version = (select min(index_version) from discovery.catalog where index_version <> $1)
     order by key desc limit $2`,
    [version, limit],
  );
  return rows.map(({ key }) => key);
}

async function countOutdated(queryable: Queryable, version: number): Promise<number> {
  const { rows } = await queryable.query<{ count: number }>(
    'select count(*) from discovery.catalog where index_version < $1 or index_version > $1',
    [version],
  );
  return Number(rows[0]?.count ?? 0);
}

/** Reports progress in the log and in the metrics. */
function createProgress({ database, logger, metrics }: RebuildContext, version: number, total: number) {
  const left = metrics?.gauge(
    'signpost_index_outdated_catalogs',
    'Catalogs whose entries in the index were made by another version of the code',
  );
  const documents = metrics?.counter(
    'signpost_index_rebuilt_documents_total',
    'Documents that this process indexed again',
  );
  left?.set(total);
  const done: RebuildStep = { catalogs: 0, documents: 0 };
  let loggedAt: number | undefined;
  return {
    async note(step: RebuildStep): Promise<void> {
      // Another process may have the lease, or all that is left may be locked: then nothing is logged.
      if (loggedAt === undefined) {
        logger.info({ version, catalogs: total }, 'rebuilding the index for another version');
        loggedAt = performance.now();
      }
      done.catalogs += step.catalogs;
      done.documents += step.documents;
      documents?.inc(step.documents);
      left?.set(Math.max(0, total - done.catalogs));
      if (performance.now() - loggedAt < logEveryMs) return;
      loggedAt = performance.now();
      logger.info({ version, ...done, of: total }, 'rebuilding the index');
    },
    async end(): Promise<void> {
      const outdated = await countOutdated(database, version);
      left?.set(outdated);
      if (outdated === 0 && loggedAt !== undefined) logger.info({ version, ...done }, 'the index is rebuilt');
    },
  };
}
