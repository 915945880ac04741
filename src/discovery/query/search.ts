import { neededCount } from '../../rules/discover/page-answer.ts';
import type { Database } from '../../storage/database.ts';
import { countLeads, type Lead } from '../../storage/discovery-candidates.ts';
import type { ThreadPool } from '../../thread-pool.ts';
import type { Deadline } from './deadline.ts';
import { passing } from './passing.ts';
import type { Plan } from './plan.ts';
import type { Trace } from './trace.ts';

/** One evaluation: what it needs, and what it has done so far. */
export interface Search {
  plan: Plan;
  database: Database;
  threads: ThreadPool;
  deadline: Deadline;
  trace: Trace;
  /** Counts candidates that were looked at, and how many of them passed. */
  count(candidates: number, passed: number): void;
}

export interface Found {
  /** Resources in the order of the answer, at most as many as are needed for the page. */
  keys: number[];
  /** How many were counted: exact up to a limit, beyond it a lower bound. */
  total: number;
}

/** Above this, a lead counts as unselective. */
const selectiveCount = 2_000;

/** Finds the resources that an intent selects, in their order. */
export async function findResources(search: Search): Promise<Found> {
  const { paging } = search.plan;
  const needed = neededCount(paging);
  const lead = await chooseLead(search);
  return take(passing(search, lead, needed), needed);
}

/** The filter's most selective index; without one, everything is looked at. */
async function chooseLead({ plan: { filter }, database, trace }: Search): Promise<Lead> {
  const leads = filter?.leads ?? [];
  const [only, ...others] = leads;
  if (only === undefined) return { kind: 'scan' };
  if (others.length === 0 && only.kind === 'facts') return only;
  const counts = await trace.time(
    'estimate',
    () => countLeads(database, leads, selectiveCount + 1),
    (counted) => ({ counts: counted }),
  );
  const least = Math.min(...counts);
  const lead = leads[counts.indexOf(least)] ?? only;
  // Few are put in the order of keys; of many, the first by value are enough.
  return lead.kind === 'numbers' && least <= selectiveCount ? { ...lead, order: 'key' } : lead;
}

async function take(batches: AsyncIterable<number[]>, needed: number): Promise<Found> {
  const keys: number[] = [];
  for await (const batch of batches) {
    keys.push(...batch);
    if (keys.length >= needed) break;
  }
  return { keys, total: keys.length };
}
