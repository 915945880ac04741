import type { Config } from '../config.ts';
import { repeat } from '../delivery/repeat.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { checkDiscoverMessage } from '../protocol/discover-messages.ts';
import { silentLogger } from '../silent-logger.ts';
import type { Database } from '../storage/database.ts';
import { Stale } from '../storage/freshness.ts';
import type { ReplicaState } from '../storage/replica.ts';
import { type Caches, createCaches } from './cache/caches.ts';
import { isStillFresh, purgeChanges } from './cache/invalidation.ts';
import { createDeadline, type Deadline, withinDeadline } from './deadline.ts';
import { type DocumentSample, sampleDocuments } from './documents/sample-catalogs.ts';
import { loadCatalogs } from './documents/scope.ts';
import { type IndexFormats, indexFormats, newestOf, UnknownIndexVersion } from './entries/index-format.ts';
import { type AnnouncedProcess, announceProcess } from './generations/processes.ts';
import { findNearMisses, type Missed } from './near-misses/near-misses.ts';
import type { NearMiss } from './near-misses/unknown-paths.ts';
import { openIndexedSearch } from './opensearch/indexed-search.ts';
import type { Question } from './plan.ts';
import {
  evaluateIntent,
  type Found,
  openCaches,
  openReader,
  refreshIndex,
  type SearchContext,
  type SearchEngine,
  type SearchOptions,
} from './search.ts';
import type { TraceStep } from './trace.ts';
import { buildOutdated, rebuildIndex } from './upkeep/build.ts';
import { type Checked, type CheckOptions, checkIndex } from './upkeep/check.ts';
import { createFeed } from './upkeep/feed.ts';
import { type FeedingProcess, feedIndex, keepLists } from './upkeep/feed-index.ts';
import { checkFed, rebuildFed } from './upkeep/maintain-fed.ts';
import { startCompactor } from './upkeep/walk-lists.ts';
import type { AskedResource } from './why/asked-resource.ts';
import { explainResource, type Why } from './why/why.ts';

// The only entry of the search engine: other folders import nothing else from this one, except status.ts (tests/house/architecture.test.ts). The
// documents of record are in PostgreSQL. The index is derived from them and only proposes candidates; the evaluator decides on the documents.

export { forgetTransactions } from './cache/invalidation.ts';
export { describeDifference } from './upkeep/check.ts';
export type { IncomingCatalog } from './write/catalog-rows.ts';
export { type AppliedCatalog, type IndexWriter, writeIndex } from './write/write-index.ts';
export type {
  AskedResource,
  DocumentSample,
  Found,
  NearMiss,
  Question,
  SearchContext,
  SearchOptions,
  TraceStep,
  Why,
};
export { createDeadline, type Deadline, UnknownIndexVersion, withinDeadline };

export type SearchService = ReturnType<typeof createSearch>;

const buildEveryMs = 5_000;
const purgeEveryMs = 60_000;
/** How often the states of catalogs are loaded again after an invalidation of everything. */
const loadEveryMs = 1_000;
const maxLoadMs = 60_000;

export function createSearch(context: SearchContext) {
  const { config, database, replicas, formats = indexFormats } = context;
  const indexed = openIndexedSearch(context, newestOf(formats));
  const feed = indexed && createFeed({ ...context, ...indexed });
  let feeding: FeedingProcess | undefined;
  const engine: SearchEngine = { ...context, caches: followOrigin(context), ...(indexed && { indexed }) };
  return {
    /** Throws a ProtocolError for an invalid intent, or if it cannot be evaluated in time. */
    search: (question: Question, options?: SearchOptions) => evaluateIntent(engine, question, options),

    /** Confirms that the result of an optimistic search is still valid. Throws Stale if something has changed since. */
    async confirm({ freshness }: Found, deadline: Deadline): Promise<void> {
      if (freshness === undefined) return;
      if (!(await withinDeadline(() => isStillFresh(openCaches(engine, deadline), freshness))))
        throw new Stale();
    },

    /** Near misses of a search that found nothing. */
    findNearMisses: (missed: Missed) => findNearMisses(engine, missed),

    /** Why a resource is, or is not, in the answer to an intent. Throws the ProtocolError that discover would answer with. */
    async why(question: Question, asked: AskedResource): Promise<Why> {
      checkDiscoverMessage(question.message);
      return explainResource(engine, question, asked);
    },

    /** A bounded sample of the documents that a search in this network can find, with their schema types. */
    async sample({ networkId }: { networkId?: string }): Promise<DocumentSample> {
      const { reader } = await openReader(engine, createDeadline(config.DISCOVER_TIMEOUT_MS));
      await refreshIndex(engine, createDeadline(config.DISCOVER_TIMEOUT_MS), { mayLag: true });
      return sampleDocuments(reader, { networkId, schemaContext: [], now: context.now() });
    },

    /** Evaluates an intent as discover does, and describes each step when it ends: the index used, what was left, the time. Throws like discover. */
    async explain(question: Question) {
      checkDiscoverMessage(question.message);
      const deadline = createDeadline(config.DISCOVER_TIMEOUT_MS);
      const { answer, trace } = await evaluateIntent(engine, question, { deadline });
      if (answer.total === 0) await findNearMisses(engine, { ...question, deadline, trace });
      const { resourceCount, pagination, ranking, leftOut } = answer;
      return { steps: trace.steps, resourceCount, pagination, ranking, leftOut };
    },

    /** Only announces that this process uses the index: for processes that search while others maintain the index. */
    announce: ({ logger }: { logger: Logger }) =>
      indexed ? unannounced : announceProcess({ database, logger }, formats),

    /** For /ready: the replicas that searches read from, if there are any. */
    report: (): { replicas?: ReplicaState[]; openSearch?: { lagMs: number | null } } => ({
      ...(replicas && { replicas: replicas.describe() }),
      ...(feeding && { openSearch: { lagMs: feeding.lagMs() } }),
    }),

    /** Milliseconds since the oldest change that searches do not see; undefined while the first index is built. */
    lag: async (): Promise<number | undefined> => (feed ? feed.lag() : 0),

    /** Closes connections to OpenSearch. */
    close: async () => indexed?.close(),

    /** Announces this process and maintains the index: builds, compacts, purges the change feed. Throws if it cannot read entries of the index. */
    async start({ logger, metrics }: { logger: Logger; metrics?: Metrics }): Promise<AnnouncedProcess> {
      const graceMs = 2 * config.DISCOVER_TIMEOUT_MS + config.DISCOVER_MAX_LAG_MS;
      const maxLagMs = config.DISCOVER_MAX_LAG_MS;
      if (feed) feeding = feedIndex(feed, { database, logger, metrics, maxLagMs, graceMs });
      else await keepLists(database);
      const announced = feeding ?? (await announceProcess({ database, logger }, formats));
      const purge = { what: 'purging the change feed of the index', everyMs: purgeEveryMs, logger };
      const ofLists = () => [
        repeat({ what: 'building the index', everyMs: buildEveryMs, logger }, (signal) =>
          buildOutdated({ database, logger, metrics, formats, graceMs }, signal),
        ),
        repeat({ what: 'loading the states of catalogs', everyMs: loadEveryMs, logger }, async (signal) =>
          loadCatalogs((await openReader(engine, createDeadline(maxLoadMs))).reader, signal),
        ),
        startCompactor({ config, database, logger, formats }),
      ];
      const loops = [...(indexed ? [] : ofLists()), repeat(purge, () => purgeChanges(database))];
      return {
        check: announced.check,
        async close() {
          await Promise.all(loops.map((loop) => loop.close()));
          await announced.close();
        },
      };
    },
  };
}

const unannounced: AnnouncedProcess = { check: () => undefined, close: async () => undefined };

/** Manual maintenance of an index by its operator. */
export function maintainIndex(database: Database, formats: IndexFormats = indexFormats, config?: Config) {
  const now = () => new Date();
  const indexed = config && openIndexedSearch({ config, now }, newestOf(formats));
  const feed = indexed && createFeed({ ...indexed, database, now });
  const check = (options: CheckOptions): Promise<Checked> =>
    feed ? checkFed(feed, options) : checkIndex(database, formats, options);
  const tools = { database, formats, logger: silentLogger(), graceMs: 0 };
  return {
    /** Builds another generation of the index from all documents. Searches and writes continue meanwhile. */
    rebuild: (onProgress?: (done: { catalogs: number; documents: number }) => void) =>
      feed
        ? rebuildFed(feed, database, onProgress).then((built) => ({
            ...built,
            version: newestOf(formats).version,
          }))
        : rebuildIndex(tools, onProgress),
    /** Mends the entries of the catalogs with an id. Undefined if there is none. */
    async rebuildCatalogs(id: string): Promise<Checked | undefined> {
      const select = 'select key from discovery.catalog where id = $1';
      const catalogKeys = await database.column<number>(select, [id]);
      if (catalogKeys.length === 0) return undefined;
      return check({ mend: true, catalogKeys, onDifference: () => undefined });
    },
    /** Compares the index with the documents. */
    check,
    /** Closes connections to OpenSearch. */
    close: async () => indexed?.close(),
  };
}

/** New caches after a lost connection, because an older state of the database may have been restored. */
function followOrigin({ database, config, usedCaches }: SearchContext): () => Caches {
  const used = config.SEARCH_INDEX === 'opensearch' ? [] : usedCaches;
  const options = { percent: config.SEARCH_CACHE_PERCENT, used };
  let { origin } = database;
  let caches = createCaches(options);
  return () => {
    if (database.origin !== origin) {
      origin = database.origin;
      caches = createCaches(options);
    }
    return caches;
  };
}
