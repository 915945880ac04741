import { type PlainError, plainError, reviveError } from '../../carried-error.ts';
import type { Config } from '../../config.ts';
import { createConfiguredClient } from '../../http/guarded-client.ts';
import { inheritanceLimitsOf, withoutPublish } from '../../rules/inherited-bytes.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import { openConfiguredSchemas, type SchemaStore } from '../../schemas/schema-store.ts';
import type { LogLine } from '../../storage/crawl/log.ts';
import type { Dependent } from '../../storage/crawl/rebuilds.ts';
import {
  openThreadDatabase,
  stuckAfterMs,
  type ThreadDatabase,
  threadDatabase,
} from '../../storage/thread-database.ts';
import { DatabaseUnavailable } from '../../storage/unavailable.ts';
import { LeaseLost } from '../../storage/work/lease-lost.ts';
import { createThreadPool, wasEnded } from '../../thread-pool.ts';
import { type ApplyingContext, applyContent, type ReadCatalog } from './apply-content.ts';
import type { CrawlContext } from './context.ts';
import { CrawlFault } from './reasons.ts';
import { rebuildBatch } from './rebuild-dependents.ts';
import { countLine, renderLine } from './tell.ts';

// Applies catalogs with much inheritance in a thread with its own connection: assembling a mebibyte of small members blocks for most of a second.

export function createApplyAside(context: CrawlContext) {
  const { config, database, logger } = context;
  const threads = createThreadPool({ size: 1, logger });
  const where = { config, thread: threadDatabase(database, logger, config) };

  async function run<T>(name: string, owner: string, input: object): Promise<T> {
    const { value, told } = await threads.run<InThread<T>>({
      ...{ module: import.meta.url, name, owner, input: { ...where, ...input } },
      ...{ deadlineMs: stuckAfterMs(config), errors: [...readingFaults, LeaseLost, DatabaseUnavailable] },
    });
    for (const line of told) countLine(context, line);
    return value;
  }

  return {
    /** Returns the missing master resources, if any. */
    async apply({ work: { row, lease }, reading, ...rest }: ReadCatalog): Promise<string[]> {
      const { faults, ...content } = reading;
      const read = { ...rest, work: { row, lease }, reading: content, faults: faults.map(plainError) };
      return run<string[]>(applyHere.name, row.node, { read }).catch((error) => {
        const excess = wasEnded(error);
        const message = `Applying ${row.catalog_id} with what it inherits takes too much ${excess}.`;
        throw excess ? new CrawlFault('inherits-too-much', message) : error;
      });
    },
    rebuild: (dependent: Dependent, masterKey: number) =>
      run<void>(rebuildHere.name, dependent.node, { dependent, masterKey }),
    close: () => threads.close(),
  };
}

interface InThread<T> {
  value: T;
  told: LogLine[];
}

interface Where {
  config: Config;
  thread: ThreadDatabase;
}

interface ApplyInput extends Where {
  read: Omit<ReadCatalog, 'reading'> & {
    reading: Omit<ReadCatalog['reading'], 'faults'>;
    faults: PlainError[];
  };
}

const readingFaults = [TrustFault, CrawlFault];

/** Runs in the thread. */
export async function applyHere({ read, ...where }: ApplyInput): Promise<InThread<string[]>> {
  const { faults, ...rest } = read;
  const reading = { ...rest.reading, faults: faults.map((fault) => reviveError(fault, readingFaults)) };
  const { context, told } = await openHere(where);
  const [outcome] = await applyContent(context, [{ ...rest, reading: reading as ReadCatalog['reading'] }]);
  if (outcome === undefined || 'error' in outcome) throw outcome?.error;
  return { value: outcome.missing, told };
}

/** Runs in the thread. */
export async function rebuildHere({
  dependent,
  masterKey,
  ...where
}: Where & { dependent: Dependent; masterKey: number }): Promise<InThread<void>> {
  const { context, told } = await openHere(where);
  return { value: await rebuildBatch(context, dependent, masterKey), told };
}

async function openHere({ config, thread }: Where): Promise<{ context: ApplyingContext; told: LogLine[] }> {
  const { database, logger } = await openThreadDatabase(thread);
  schemas ??= openConfiguredSchemas(config, createConfiguredClient(config), logger);
  const { checker } = await schemas;
  const told: LogLine[] = [];
  const tell: ApplyingContext['tell'] = (about, fault) => {
    const line = renderLine(about, fault);
    told.push(line);
    return line;
  };
  const context: ApplyingContext = {
    ...{ database, checker, tell, now: () => new Date() },
    limits: withoutPublish(inheritanceLimitsOf(config)),
    ...{ maxResources: config.CRAWL_MAX_RESOURCES, maxInherited: Number.POSITIVE_INFINITY },
  };
  return { context, told };
}

let schemas: Promise<SchemaStore> | undefined;
