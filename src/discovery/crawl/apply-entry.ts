import { TooMuchHere } from '../../rules/inherited-bytes.ts';
import { createBatch } from '../../storage/batch.ts';
import {
  type Applied,
  type ApplyingContext,
  applyContent,
  isMaster,
  type ReadCatalog,
} from './apply-content.ts';
import type { CrawlContext } from './context.ts';
import { endsWork } from './reasons.ts';
import { lineOf } from './tell.ts';
import { asideBytes } from './verify-aside.ts';

// Applies readings (apply-content.ts): small catalogs of all hosts together, because their statements cost more than their rows; a catalog with
// much inheritance alone, in a thread (apply-aside.ts).

/** Returns the missing master resources, if any: then nothing was applied. */
export type ApplyCatalog = (read: ReadCatalog) => Promise<string[]>;

export const catalogsTogether = 50;
const documentsTogether = 2_500;
/** While one waits for the database, another prepares its writes. */
const lanes = 3;
/** How often the progress of a first crawl is logged, and the minimum of catalogs applied in that time. */
const progressEveryMs = 10_000;
const minLogged = 100;

export function createApplier(context: CrawlContext, aside: { apply: ApplyCatalog }): ApplyCatalog {
  const applying = applyingOf(context);
  const batches = Array.from({ length: lanes }, () =>
    createBatch<ReadCatalog, Outcome>({ maxItems: catalogsTogether, gatherMs: 1 }, (reads) =>
      applySome(applying, reads),
    ),
  );
  const help = 'Catalogs that the crawler brought up to date';
  const applied = context.metrics.counter('signpost_crawl_applied_total', help);
  const logProgress = createProgressLog(context);
  return async (read) => {
    const outcome = await batches[read.work.lease.id % lanes]?.(read);
    const isTooMuch = outcome !== undefined && 'error' in outcome && outcome.error instanceof TooMuchHere;
    if (outcome === undefined || ('error' in outcome && !isTooMuch)) throw outcome?.error;
    // The others of its batch do not wait for it.
    const missing = 'error' in outcome ? await aside.apply(read) : outcome.missing;
    if (missing.length === 0) {
      applied.inc();
      logProgress();
    }
    return missing;
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

type Outcome = Applied | { error: unknown };

/** If one of several is faulty, each is applied separately. */
async function applySome(context: ApplyingContext, reads: readonly ReadCatalog[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const part of partsOf(reads)) {
    try {
      outcomes.push(...(await applyContent(context, part)));
    } catch (error) {
      if (endsWork(error)) throw error;
      if (part.length === 1) outcomes.push({ error });
      else for (const read of part) outcomes.push(...(await applySome(context, [read])));
    }
  }
  return outcomes;
}

/** Limits the size of parts. MASTER catalogs go alone: a catalog that extends several locks them one after another. */
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

/** At least one, so that nothing follows a MASTER catalog in its part. */
function documentsOf({ reading }: ReadCatalog): number {
  const { resources, offers } = reading.content;
  return Math.max(1, resources.size + offers.size);
}

export function applyingOf(context: CrawlContext): ApplyingContext {
  const { config, database, now, reader } = context;
  return {
    ...{ database, now, checker: reader.checker, limits: reader.limits.inherited },
    ...{ maxResources: config.CRAWL_MAX_RESOURCES, maxInherited: asideBytes },
    tell: (about, fault) => lineOf(context, about, fault),
  };
}
