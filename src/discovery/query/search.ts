import { neededCount } from '../../rules/discover/page-answer.ts';
import type { Database } from '../../storage/database.ts';
import { countLeads } from '../../storage/discovery-candidates.ts';
import { findObjectPaths } from '../../storage/discovery-index.ts';
import type { ThreadPool } from '../../thread-pool.ts';
import type { Deadline } from './deadline.ts';
import { type CheckedLead, passing } from './passing.ts';
import type { Plan } from './plan.ts';
import { findRanked } from './ranked.ts';
import { prepareSpatial, type SpatialSearch } from './spatial.ts';
import { inOrder, type Standing, take } from './standing.ts';
import { prepareText } from './text.ts';
import type { Trace } from './trace.ts';

// Each part of an intent can propose candidates, and check those of others. The most selective part proposes. Places come nearest first and
// words rarest first, so that an answer in that order can end before all candidates were looked at.

/** One evaluation: what it needs, and what it has done so far. */
export interface Search {
  plan: Plan;
  database: Database;
  threads: ThreadPool;
  deadline: Deadline;
  trace: Trace;
  /** Counts candidates that the filter looked at, and how many of them passed. */
  count(candidates: number, passed: number): void;
  /** Targets under which nothing is indexed, and the paths under which something is. */
  reportUnknown(targets: readonly string[], known: readonly string[]): void;
}

export interface Found {
  /** Resources in the order of the answer, at least as many as the page needs. */
  keys: number[];
  /** How many were counted: exact up to a limit, beyond it a lower bound. */
  total: number;
}

/** What proposes candidates: resources that passed the filter, batch by batch. */
export interface Proposal {
  by: string;
  /** How many there are, as far as was counted. */
  estimate: number;
  batches(atMost?: number): AsyncGenerator<Standing[]>;
}

/** A part that proposes more is not selective. */
export const selectiveCount = 2_000;

/** Finds the resources that an intent selects, in their order. */
export async function findResources(search: Search): Promise<Found> {
  const { plan, trace } = search;
  const needed = neededCount(plan.paging);
  const spatial = plan.spatial.length > 0 ? await prepareSpatial(search) : undefined;
  if (spatial?.isNowhere) return { keys: [], total: 0 };
  const byFilter = await filterProposal(search, spatial !== undefined || plan.text !== undefined);
  const proposal = spatial && spatial.estimate < byFilter.estimate ? spatial : byFilter;
  const isSelective = proposal.estimate <= selectiveCount;

  if (plan.text !== undefined) {
    const text = await prepareText(search, plan.text);
    const other = isSelective && proposal.estimate < text.estimate ? proposal : undefined;
    trace.note('lead', { by: other?.by ?? 'text', estimate: other?.estimate ?? text.estimate });
    return findRanked(search, text, { needed, spatial, other });
  }
  trace.note('lead', { by: proposal.by, estimate: proposal.estimate });
  if (spatial === undefined) return take(proposal.batches(needed), needed);
  // All of few, put in order; of many, the first in the order in which places come.
  if (isSelective) return inOrder(checked(spatial, proposal.batches()));
  return take(checked(spatial, spatial.batches()), needed);
}

async function* checked(
  spatial: SpatialSearch,
  batches: AsyncIterable<Standing[]>,
): AsyncGenerator<Standing[]> {
  for await (const batch of batches) yield await spatial.check(batch);
}

/** From the most selective index that the filter has; without one, everything is looked at. */
async function filterProposal(search: Search, isCompared: boolean): Promise<Proposal> {
  const { from, estimate } = await chooseLead(search, isCompared);
  return {
    by: `filter: ${from.lead.kind}`,
    estimate,
    async *batches(atMost) {
      for await (const keys of passing(search, from, atMost)) yield keys.map((key) => ({ key }));
    },
  };
}

async function chooseLead(
  search: Search,
  isCompared: boolean,
): Promise<{ from: CheckedLead; estimate: number }> {
  const { database, trace, plan } = search;
  const leads = await usableLeads(search);
  const [only, ...others] = leads;
  if (only === undefined) {
    return {
      from: { lead: { kind: 'scan' }, check: plan.filter?.check },
      estimate: Number.POSITIVE_INFINITY,
    };
  }
  if (!isCompared && others.length === 0 && only.lead.kind === 'facts') return { from: only, estimate: 0 };
  const counts = await trace.time(
    'count entries',
    () =>
      countLeads(
        database,
        leads.map(({ lead }) => lead),
        selectiveCount + 1,
      ),
    (counted) => ({ counts: counted }),
  );
  const estimate = Math.min(...counts);
  const { lead, check } = leads[counts.indexOf(estimate)] ?? only;
  // Few are put in the order of keys; of many, the first by value will do.
  const isFew = lead.kind === 'numbers' && estimate <= selectiveCount;
  return { from: { lead: isFew ? { ...lead, order: 'key' } : lead, check }, estimate };
}

/** Those that the resources of this index do not make too narrow. */
async function usableLeads({ plan: { filter }, database }: Search): Promise<CheckedLead[]> {
  const leads = filter?.leads ?? [];
  const asked = leads.flatMap(({ unlessObjects }) => unlessObjects);
  const objects = asked.length > 0 ? await findObjectPaths(database, asked) : new Set<string>();
  return leads.filter(({ unlessObjects }) => !unlessObjects.some((path) => objects.has(path)));
}
