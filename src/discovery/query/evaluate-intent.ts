import type { Context } from '../../protocol/context.ts';
import type { DiscoverMessage } from '../../protocol/discover-messages.ts';
import type { AnswerPage } from '../../rules/discover/page-answer.ts';
import { catchUp, type Trust, trustMemory } from '../../storage/catch-up.ts';
import { withinTime } from '../../storage/database.ts';
import type { DiscoveryContext } from '../context.ts';
import { buildAnswer } from './answer.ts';
import type { Search } from './candidates.ts';
import { createDeadline, type Deadline, withinDeadline } from './deadline.ts';
import { planIntent } from './plan.ts';
import { findCandidates } from './search.ts';
import { createTrace, type Trace } from './trace.ts';

// An intent on its way to an answer:
//
//   plan         the parts are read; what the index can be asked is told from what has to be evaluated
//   catch up     what has changed in the index since the last search is forgotten, or it is made sure afterwards that nothing has
//   candidates   the index proposes, starting from the most selective part
//   check        filter, geometry and text decide on each candidate (in threads, where that takes long)
//   answer       the page is read, with its catalogs and the offers that apply now

export type Evaluator = Pick<DiscoveryContext, 'config' | 'database' | 'threads' | 'now'>;

/** How often an intent is evaluated when what it found changes meanwhile. */
const maxAttempts = 3;

export interface EvaluationOptions {
  trusting?: boolean;
  deadline?: Deadline;
  /** The identity that asks: threads are given out fairly among those. */
  owner?: string;
}

export interface Evaluation {
  answer: AnswerPage;
  trace: Trace;
  /** It holds only if this does (catch-up.ts). */
  trust?: Trust;
}

/**
 * Throws a ProtocolError for an intent that cannot be read, or not evaluated in time. `trusting`: the caller sees to it afterwards that nothing has
 * changed since this process last asked; it may give the deadline that is left from an evaluation before.
 */
export async function evaluateIntent(
  { config, database, threads, now }: Evaluator,
  message: DiscoverMessage,
  scope: Pick<Context, 'networkId' | 'schemaContext'>,
  { trusting = false, deadline = createDeadline(config.DISCOVER_TIMEOUT_MS), owner }: EvaluationOptions = {},
): Promise<Evaluation> {
  const trace = createTrace();
  const plan = planIntent(message, scope, { acceptPostfix: config.ACCEPT_POSTFIX_FILTERS, now: now() });
  const counts = { candidates: 0, passed: 0 };
  const search: Search = {
    plan,
    database: withinTime(database, deadline.remainingMs),
    threads,
    owner,
    deadline,
    trace,
    count(candidates, passed) {
      counts.candidates += candidates;
      counts.passed += passed;
    },
  };
  // What takes long would often have to be done again.
  const isQuick = plan.filter?.exact !== false;
  return withinDeadline(deadline, async () => {
    for (let attempt = 1; ; attempt++) {
      const trust = trusting && isQuick && attempt === 1 ? trustMemory(search.database) : undefined;
      if (trust === undefined) await catchUp(search.database);
      const { answer, isOutdated } = await buildAnswer(search, await findCandidates(search));
      trace.note('found', { ...counts, resources: answer.resourceCount });
      if (isOutdated && attempt < maxAttempts) continue;
      if (answer.leftOut && (!answer.pagination || answer.leftOut.offers > 0))
        trace.note('cut', { leftOut: answer.leftOut });
      return { answer, trace, ...(trust && { trust }) };
    }
  });
}
