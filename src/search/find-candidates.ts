import { type Candidates, inOnePart, type Search, selectiveCount } from './candidates.ts';
import { keysBetween } from './documents/keys.ts';
import { passing, settled } from './filter/check.ts';
import { filterProposal } from './filter/propose.ts';
import { inOrder, type Standing } from './order.ts';
import type { Plan } from './plan.ts';
import { prepareSpatial, type SpatialSearch } from './spatial/spatial-search.ts';
import { findRanked } from './text/rank-candidates.ts';
import { prepareText } from './text/text-search.ts';

// Each part of an intent can propose candidates, and check those of others. The most selective part proposes. Places come nearest first and
// words rarest first, so that an answer in that order can end before all candidates were looked at.

/** Finds what an intent may select, in the order of the answer. */
export async function findCandidates(search: Search): Promise<Candidates> {
  const { plan, trace } = search;
  const spatial = plan.spatial.length > 0 ? await prepareSpatial(search) : undefined;
  if (spatial?.isNowhere) return { keys: inOnePart([]) };
  const byFilter = asksFilter(plan, spatial) ? await filterProposal(search) : undefined;
  const selective = [byFilter, spatial]
    .filter((each) => each !== undefined && each.estimate <= selectiveCount(plan))
    .sort((a, b) => (a?.estimate ?? 0) - (b?.estimate ?? 0))[0];

  if (plan.text !== undefined) {
    const text = await prepareText(search, plan.text);
    const other = selective && selective.estimate < text.estimate ? selective : undefined;
    trace.note('lead', { by: other?.by ?? 'text', estimate: other?.estimate ?? text.estimate });
    return findRanked(search, text, { spatial, other });
  }
  const lead = selective ?? spatial ?? byFilter;
  if (lead === undefined) return { keys: inOnePart([]) };
  trace.note('lead', { by: lead.by, estimate: lead.estimate });
  if (spatial === undefined) return settled(search, await lead.open());
  if (lead === spatial && spatial.isDecided) return settled(search, await spatial.open());
  // All of few, put in order; of many, the first in the order in which places come.
  const found = checked(spatial, passing(search, await lead.open()));
  return { keys: selective ? inOrder(found) : keysOf(found), isSettled: true };
}

/** Few places are held against the filter one by one, sooner than the index is asked about it. */
function asksFilter({ filter, text }: Plan, spatial: SpatialSearch | undefined): boolean {
  if (spatial) return filter !== undefined && spatial.estimate > fewPlaces;
  return filter !== undefined || text === undefined;
}

const fewPlaces = 400;

async function* checked(
  spatial: SpatialSearch,
  batches: AsyncIterable<readonly number[]>,
): AsyncGenerator<Standing[]> {
  for await (const keys of batches)
    for (let start = 0; start < keys.length; start += checkedAtOnce)
      yield await spatial.check(keysBetween(keys, start, start + checkedAtOnce));
}

/** A catalog that is proposed as a whole may have many more. */
const checkedAtOnce = 2_000;

async function* keysOf(batches: AsyncIterable<readonly Standing[]>): AsyncGenerator<number[]> {
  const seen = new Set<number>();
  for await (const batch of batches) {
    const fresh = batch.map(({ key }) => key).filter((key) => !seen.has(key));
    for (const key of fresh) seen.add(key);
    yield fresh;
  }
}
