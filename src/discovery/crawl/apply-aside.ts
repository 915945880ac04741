import type { Config } from '../../config.ts';
import { createConfiguredClient } from '../../http/guarded-client.ts';
import { inheritanceLimitsOf, withoutPublish } from '../../rules/inherited-bytes.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import { openConfiguredSchemas, type SchemaStore } from '../../schemas/schema-store.ts';
import { hostTable } from '../../storage/crawl/hosts.ts';
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
import { CrawlFault, type ReadingFault } from './reasons.ts';
import { rebuildBatch } from './rebuild-batch.ts';
import { countLine, renderLine } from './tell.ts';

// Catalogs that inherit much are applied in a thread, with a connection of its own: to assemble a mebibyte of small members and take it apart for
// the index takes most of a second, in which nobody else would be served.

export interface ApplyAside {
  /** Returns the master resources that are missing, where there are some. */
  apply(read: ReadCatalog): Promise<string[]>;
  rebuild(dependent: Dependent, masterKey: number): Promise<void>;
  close(): Promise<void>;
}

export function createApplyAside(context: CrawlContext): ApplyAside {
  const { config, database, logger } = context;
  const threads = createThreadPool({ size: 1, logger });
  const where = { config, thread: threadDatabase(database, logger, config) };

  async function run<T>(name: string, owner: string, input: object): Promise<T> {
    const task = { module: import.meta.url, name, owner, input: { ...where, ...input } };
    const { value, told } = await threads.run<InThread<T>>({ ...task, deadlineMs: stuckAfterMs(config) });
    for (const line of told) countLine(context, line);
    return value;
  }

  return {
    async apply({ work: { row, lease }, reading, ...rest }) {
      const { faults, ...content } = reading;
      const read = { ...rest, work: { row, lease }, reading: content, faults: faults.map(plainFault) };
      return run<string[]>(applyHere.name, row.node, { read }).catch((error) => {
        const excess = wasEnded(error);
        const message = `To apply ${row.catalog_id} with what it inherits takes too much ${excess}.`;
        throw excess ? new CrawlFault('inherits-too-much', message) : reviveError(error, lease.id);
      });
    },
    rebuild: (dependent, masterKey) => run(rebuildHere.name, dependent.node, { dependent, masterKey }),
    close: () => threads.close(),
  };
}

interface InThread<T> {
  value: T;
  /** Lines that the thread wrote to the crawl log. */
  told: LogLine[];
}

interface Where {
  config: Config;
  thread: ThreadDatabase;
}

interface ApplyInput extends Where {
  read: Omit<ReadCatalog, 'reading'> & {
    reading: Omit<ReadCatalog['reading'], 'faults'>;
    faults: PlainFault[];
  };
}

/** Runs in the thread. */
export async function applyHere({ read, ...where }: ApplyInput): Promise<InThread<string[]>> {
  const { faults, ...rest } = read;
  const reading = { ...rest.reading, faults: faults.map(reviveFault) } as ReadCatalog['reading'];
  const { context, told } = await openHere(where);
  const [outcome] = await applyContent(context, [{ ...rest, reading }]);
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
  const context = { ...limitsOf(config), database, checker, tell, now: () => new Date() };
  return { context: { ...context, maxInherited: Number.POSITIVE_INFINITY }, told };
}

let schemas: Promise<SchemaStore> | undefined;

function limitsOf(config: Config): Pick<ApplyingContext, 'limits' | 'maxResources'> {
  return { limits: withoutPublish(inheritanceLimitsOf(config)), maxResources: config.CRAWL_MAX_RESOURCES };
}

/** The class of an error does not come through. */
interface PlainFault {
  name: string;
  code: ReadingFault['code'];
  message: string;
  document?: TrustFault['document'];
  url?: string;
}

function plainFault(fault: ReadingFault): PlainFault {
  const { name, code, message } = fault;
  return fault instanceof TrustFault
    ? { name, code, message, document: fault.document }
    : { name, code, message, url: fault.url };
}

function reviveFault({ code, message, document, url }: PlainFault): ReadingFault {
  return document
    ? new TrustFault(document, code as TrustFault['code'], message)
    : new CrawlFault(code, message, { url });
}

function reviveError(error: unknown, hostId: number): unknown {
  const { name, code } = error as Partial<PlainFault>;
  if (name === 'TrustFault' || name === 'CrawlFault') return reviveFault(error as PlainFault);
  if (name === 'LeaseLost') return new LeaseLost(hostTable, hostId);
  return (code as string) === 'NET_DOWNSTREAM_UNAVAILABLE' ? new DatabaseUnavailable(error) : error;
}
