import type { ServiceContext } from '../delivery/service.ts';
import type { Logger } from '../logger.ts';
import type { AnswerPage } from '../rules/discover/page-answer.ts';
import { withinTime } from '../storage/database.ts';
import type { Replicas } from '../storage/replicas.ts';
import type { ThreadPool } from '../thread-pool.ts';
import { type BuiltPage, buildPage } from './build-page.ts';
import { type CacheName, type Caches, createCaches, type IndexReader } from './cache/caches.ts';
import { assumeFresh, type CacheFreshness, refreshCaches } from './cache/invalidation.ts';
import type { Search } from './candidates.ts';
import { createDeadline, type Deadline, withinDeadline } from './deadline.ts';
import { type Evaluation, evaluating } from './evaluation.ts';
import { findCandidates } from './find-candidates.ts';
import { isAlike, readDocumentVersions, readFormatsInUse } from './format/formats-in-use.ts';
import { type IndexFormat, type IndexFormats, indexFormats, newestOf } from './format/index-format.ts';
import { type Plan, planQuestion, type Question } from './plan.ts';
import { logCostlyIn } from './spatial/log-costly.ts';
import { createTrace, type Trace } from './trace.ts';

// A search, step by step:
//
//   plan         reads the intent, and tells what the index can answer from what has to be evaluated (plan.ts)
//   refresh      invalidates what has changed since the last search, unless the search is optimistic (cache/invalidation.ts)
//   candidates   the most selective part of the intent proposes (find-candidates.ts)
//   check        filter, geometries and text decide on each candidate, in threads where that takes long (filter/check.ts, spatial/check.ts)
//   page         the documents of the page are read, with their catalogs and the offers that apply now (build-page.ts)

/** What a search needs of its process. */
export type SearchContext = Pick<ServiceContext, 'config' | 'database' | 'now'> & {
  threads: ThreadPool;
  logger?: Logger;
  /** Searches read from these, as far as they are up to date. */
  replicas?: Replicas;
  /** Those of this program, unless another one is tried. */
  formats?: IndexFormats;
  /** All caches, unless it is measured what one of them is worth. */
  usedCaches?: readonly CacheName[];
};

/** And what the search service keeps between searches. */
export interface SearchEngine extends SearchContext {
  caches(): Caches;
}

/** How often an intent is evaluated when what it found changes meanwhile. */
const maxAttempts = 3;
/** And when a catalog was rebuilt meanwhile. Then it is evaluated in one snapshot: a search that takes longer than a step of the rebuild would never end. */
const maxRebuildRepeats = 2;

export interface SearchOptions {
  /** The search does not ask what has changed since this process last asked: the caller sees to it afterwards that nothing has. */
  optimistic?: boolean;
  /** Perhaps what is left from a search before. */
  deadline?: Deadline;
  /** The identity that asks: threads are given out fairly among those. */
  owner?: string;
  /** Told that the search waits for a thread. */
  onWait?(): void;
  /** Waited for before a page of so many resources is read. */
  beforePage?(resources: number): Promise<void>;
}

export interface Found {
  answer: AnswerPage;
  trace: Trace;
  /** Of an optimistic search: it holds only while this does (cache/invalidation.ts). */
  freshness?: CacheFreshness;
}

/** Throws a ProtocolError for an intent that cannot be read, or not evaluated in time. */
export async function evaluateIntent(
  engine: SearchEngine,
  question: Question,
  options: SearchOptions = {},
): Promise<Found> {
  const { deadline = createDeadline(engine.config.DISCOVER_TIMEOUT_MS), owner, onWait } = options;
  return withinDeadline(() =>
    evaluating(engine.threads, { deadline, owner, onWait }, (evaluation) =>
      evaluate(engine, question, { ...options, deadline, evaluation }),
    ),
  );
}

type EvaluateOptions = SearchOptions & {
  deadline: Deadline;
  evaluation: Evaluation;
  /** Instead of the newest state, through the caches. */
  snapshot?: IndexReader;
};

async function evaluate(
  engine: SearchEngine,
  { message, scope }: Question,
  options: EvaluateOptions,
): Promise<Found> {
  const { optimistic = false, deadline, evaluation, snapshot } = options;
  const trace = createTrace();
  const reader = snapshot ?? openReader(engine, deadline);
  const { formats = indexFormats } = engine;
  const newest = [newestOf(formats)];
  const plan = planQuestion(engine, { message, scope }, newest);
  trace.endPhase('plan');
  const counts = { candidates: 0, passed: 0 };
  const search: Search = {
    plan,
    formats: newest,
    database: reader,
    deadline,
    evaluation,
    trace,
    beforePage: options.beforePage,
    logCostly: logCostlyIn(engine),
    count(candidates, passed) {
      counts.candidates += candidates;
      counts.passed += passed;
    },
  };
  // What takes long would often have to be done again.
  const isQuick = plan.filter?.exact !== false;
  for (let attempt = 1, repeats = 0; ; ) {
    const isFirst = attempt + repeats === 1;
    const freshness = optimistic && isQuick && isFirst ? assumeFresh(reader.caches) : undefined;
    if (freshness === undefined) await refreshCaches(reader, { mayLag: isFirst });
    await useFormats(search, formats, (inUse) => planQuestion(engine, { message, scope }, inUse));
    const { answer, isOutdated } = await findPage(search);
    trace.note('found', { ...counts, resources: answer.resourceCount });
    if (search.versions && !freshness && !(await search.versions.areStill())) {
      if (repeats++ < maxRebuildRepeats) continue;
      return evaluateInSnapshot(engine, { message, scope }, options);
    }
    if (isOutdated && attempt++ < maxAttempts) continue;
    if (answer.leftOut && (!answer.pagination || answer.leftOut.offers > 0))
      trace.note('cut', { leftOut: answer.leftOut });
    return { answer, trace, ...(freshness && { freshness }) };
  }
}

async function findPage(search: Search): Promise<BuiltPage> {
  const candidates = await findCandidates(search);
  search.trace.endPhase('candidates');
  const page = await buildPage(search, candidates);
  search.trace.endPhase('check');
  return page;
}

/** No rebuild is seen within a snapshot. The caches stay out of it, as they follow what is committed. */
async function evaluateInSnapshot(
  engine: SearchEngine,
  question: Question,
  options: EvaluateOptions,
): Promise<Found> {
  const { database } = engine;
  const { remainingMs } = options.deadline;
  return database.transaction(
    async (tx) => {
      const snapshot = { ...withinTime(tx, remainingMs), caches: createCaches({ percent: 0 }) };
      return evaluate(engine, question, { ...options, optimistic: false, snapshot });
    },
    { isolation: 'repeatable read', waitMs: remainingMs() },
  );
}

/** Statements that end with the deadline, and the caches as they are at the beginning of a search. */
export function openReader(engine: SearchEngine, { remainingMs }: Deadline): IndexReader {
  const { database, replicas, config } = engine;
  const caches = engine.caches();
  if (replicas === undefined) return { ...withinTime(database, remainingMs), caches };
  return {
    ...withinTime(
      replicas.open(() => caches.state.needed),
      remainingMs,
    ),
    caches,
    mayMiss: async (position, knownMs) =>
      knownMs < config.DISCOVER_MAX_LAG_MS && (await replicas.areBehind(position)),
  };
}

/** Has a search look for the entries of all formats there are. As a rule there is one, or all look for the same. */
export async function useFormats(
  search: Search,
  formats: IndexFormats,
  planFor: (inUse: readonly IndexFormat[]) => Plan,
): Promise<void> {
  const inUse = await readFormatsInUse(search.database, formats);
  const [newest = newestOf(formats)] = inUse;
  const isMixed = !inUse.every((each) => isAlike(each, newest));
  const wanted = isMixed ? inUse : [newest];
  const isPlanned =
    wanted.length === search.formats.length &&
    search.formats.every((each, at) => isAlike(each, wanted[at] ?? each));
  if (!isPlanned) search.plan = planFor(wanted);
  search.formats = wanted;
  search.versions = isMixed ? await readDocumentVersions(search.database, newest.version) : undefined;
}
