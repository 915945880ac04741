import type { ServiceContext } from '../delivery/service.ts';
import type { Logger } from '../logger.ts';
import type { AnswerPage } from '../rules/discover/page-answer.ts';
import type { TextQuery } from '../rules/text/rank.ts';
import { withinTime } from '../storage/database.ts';
import type { Replicas } from '../storage/replicas.ts';
import type { ThreadPool } from '../thread-pool.ts';
import { buildPage } from './build-page.ts';
import type { CacheName, Caches, IndexReader } from './cache/caches.ts';
import { assumeFresh, type CacheFreshness, refreshCaches } from './cache/invalidation.ts';
import { createDeadline, type Deadline, withinDeadline } from './deadline.ts';
import { createPageReader } from './documents/read-page.ts';
import { type IndexFormats, indexFormats, newestOf } from './entries/index-format.ts';
import { type Evaluation, evaluating } from './evaluation.ts';
import { findHits } from './find-hits.ts';
import { findInUse } from './generations/in-use.ts';
import type { FindOptions } from './opensearch/find.ts';
import type { IndexedSearch } from './opensearch/indexed-search.ts';
import { type Plan, planQuestion, type Question } from './plan.ts';
import { readWords } from './text/read-words.ts';
import type { Tools } from './tools.ts';
import { createTrace, type Trace } from './trace.ts';

// A search, step by step:
//
//   plan         reads the intent, and separates what the index can answer from what must be evaluated (plan.ts)
//   refresh      invalidates what has changed since the last search, unless the search is optimistic (cache/invalidation.ts)
//   hits         the most selective part of the intent leads, and the others check, in the order of the answer (find-hits.ts)
//   page         reads the documents of the page, with their catalogs and the offers that apply now (build-page.ts)

/** The parts of the process that a search needs. */
export type SearchContext = Pick<ServiceContext, 'config' | 'database' | 'now'> & {
  threads: ThreadPool;
  logger?: Logger;
  /** Searches read from these if they are up to date. */
  replicas?: Replicas;
  /** The formats of this program, unless others are tried. */
  formats?: IndexFormats;
  /** All caches, unless the benefit of one is measured. */
  usedCaches?: readonly CacheName[];
};

/** Also the state that the search service keeps between searches. */
export interface SearchEngine extends SearchContext {
  caches(): Caches;
  /** Replaces the lists: then no list is read, and nothing is cached. */
  indexed?: IndexedSearch;
}

/** Maximum of evaluations of an intent if its results change meanwhile. */
const maxAttempts = 3;

export interface SearchOptions {
  /** The search does not ask for changes since the last refresh of this process. The caller confirms afterwards that there were none. */
  optimistic?: boolean;
  /** May be the rest of an earlier search's time. */
  deadline?: Deadline;
  /** The identity that asks. Threads are shared fairly between identities. */
  owner?: string;
  /** Called when the search waits for a thread. */
  onWait?(): void;
  /** Awaited before a page of `resources` is read. */
  beforePage?(resources: number): Promise<void>;
}

export interface Found {
  answer: AnswerPage;
  trace: Trace;
  /** Freshness of an optimistic search: the answer is valid only as long as this (cache/invalidation.ts). */
  freshness?: CacheFreshness;
}

/** Throws a ProtocolError for an invalid intent, or if it cannot be evaluated in time. */
export async function evaluateIntent(engine: SearchEngine, question: Question, options: SearchOptions = {}) {
  const { deadline = createDeadline(engine.config.DISCOVER_TIMEOUT_MS), owner, onWait } = options;
  const work = (evaluation: Evaluation) => evaluate(engine, question, { ...options, deadline, evaluation });
  return withinDeadline(() => evaluating(engine.threads, { deadline, owner, onWait }, work));
}

type EvaluateOptions = SearchOptions & { deadline: Deadline; evaluation: Evaluation };

async function evaluate(engine: SearchEngine, question: Question, options: EvaluateOptions): Promise<Found> {
  const { optimistic = false, deadline, evaluation } = options;
  const trace = createTrace();
  // Refuses an invalid filter before reading anything.
  const { filter } = planQuestion(engine, question, newestOf(engine.formats ?? indexFormats));
  trace.endPhase('plan');
  // Slow searches are not optimistic, because they would often be repeated.
  const isQuick = filter?.exact !== false;
  for (let attempt = 1; ; attempt++) {
    const caches = engine.caches();
    const isOptimistic = optimistic && isQuick && attempt === 1;
    const freshness = isOptimistic && !engine.indexed ? assumeFresh(caches) : undefined;
    if (freshness === undefined) await refreshIndex(engine, deadline, { mayLag: attempt === 1 });
    const { tools, plan } = await openSearch(engine, question, { deadline, evaluation, trace });
    const page = createPageReader(tools.reader, tools.scope);
    const hits = findMatches(engine, tools, plan, { isFirst: attempt === 1, ...page });
    trace.endPhase('refresh');
    const { answer, isOutdated } = await buildPage(tools, plan, { hits, page }, options.beforePage);
    trace.endPhase('find');
    trace.note('found', { resources: answer.resourceCount });
    if (isOutdated && attempt < maxAttempts) continue;
    if (answer.leftOut && (!answer.pagination || answer.leftOut.offers > 0))
      trace.note('cut', { leftOut: answer.leftOut });
    return { answer, trace, ...(freshness && { freshness }) };
  }
}

/** Hits in the order of the answer, in batches, and the number of further hits. */
export function findMatches({ indexed }: SearchEngine, tools: Tools, plan: Plan, options: FindOptions = {}) {
  return indexed ? indexed.findHits(tools, plan, options) : findHits(tools, plan);
}

/** The words of a text, with their matches. */
export async function readQuery({ indexed }: SearchEngine, tools: Tools, plan: Plan): Promise<TextQuery> {
  return indexed ? indexed.readQuery(tools, plan) : (await readWords(tools, plan)).query;
}

/** Makes earlier commits visible, except for the lag of OpenSearch. */
export async function refreshIndex(engine: SearchEngine, deadline: Deadline, options: { mayLag: boolean }) {
  if (!engine.indexed) await refreshCaches(openCaches(engine, deadline), options);
}

/** Tools and plan of a search, on the generation of the index in use. */
export async function openSearch(
  engine: SearchEngine,
  question: Question,
  { deadline, evaluation, trace }: Pick<Tools, 'deadline' | 'evaluation' | 'trace'>,
): Promise<{ tools: Tools; plan: Plan }> {
  const { reader, format } = await openReader(engine, deadline);
  const plan = planQuestion(engine, question, format);
  const { database, logger } = engine;
  return { tools: { reader, scope: plan.scope, deadline, evaluation, trace, database, logger }, plan };
}

/** Statements that end with the deadline, on the generation of the index in use, and its format. */
export async function openReader(engine: SearchEngine, deadline: Deadline) {
  const caches = openCaches(engine, deadline);
  if (engine.indexed)
    return { reader: { ...caches, index: '' }, format: newestOf(engine.formats ?? indexFormats) };
  const { index, format } = await findInUse(caches, engine.formats ?? indexFormats);
  const reader: IndexReader = { ...caches, index };
  return { reader, format };
}

/** Statements that end with the deadline, and the caches at the beginning of a search. */
export function openCaches(engine: SearchEngine, { remainingMs }: Deadline): Omit<IndexReader, 'index'> {
  const { database, replicas, config } = engine;
  const caches = engine.caches();
  if (replicas === undefined) return { ...withinTime(database, remainingMs), caches };
  const replica = replicas.open(() => caches.state.needed);
  return {
    ...withinTime(replica, remainingMs),
    caches,
    mayMiss: async (position, knownMs) =>
      knownMs < config.DISCOVER_MAX_LAG_MS && (await replicas.areBehind(position)),
  };
}
