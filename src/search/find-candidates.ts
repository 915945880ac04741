import { type Candidates, limitSelective, type Search, streamOnce } from './candidates.ts';
import { inBatches } from './documents/keys.ts';
import { checkCandidates, filterCandidates } from './filter/check.ts';
import { proposeByFilter } from './filter/propose.ts';
import { type Hit, sortHits } from './order.ts';
import type { Plan } from './plan.ts';
import { prepareSpatial, type SpatialSearch } from './spatial/spatial-search.ts';
import type { TextSearch } from './text/join-texts.ts';
import { findRanked } from './text/rank-candidates.ts';
import { prepareText } from './text/text-search.ts';

// Candidate generation. Each part of an intent (text, geometries, filter) can propose candidates, and check those of others. The most selective part proposes. Geometries come nearest
// first and words rarest first, so that an answer in that order can end before all candidates were looked at.

/** Finds candidates, in the order of the answer. */
export async function findCandidates(search: Search): Promise<Candidates> {
  const { plan } = search;
  const text = plan.text === undefined ? undefined : prepareText(search, plan.text);
  text?.catch(() => undefined); // it is awaited below
  return findByLists(search, text);
}

async function findByLists(search: Search, preparing: Promise<TextSearch> | undefined): Promise<Candidates> {
  const { plan, trace } = search;
  // Places and words are asked for at the same time: neither depends on the other.
  const [spatial, text] = await Promise.all([
    plan.spatial.length > 0 ? prepareSpatial(search) : undefined,
    preparing,
  ]);
  if (spatial?.estimate === 0) return { keys: streamOnce([]) };
  const byFilter = asksFilter(plan, spatial) ? await proposeByFilter(search) : undefined;
  const selective = [byFilter, spatial]
    .filter((each) => each !== undefined && each.estimate <= limitSelective(plan))
    .sort((a, b) => (a?.estimate ?? 0) - (b?.estimate ?? 0))[0];

  if (text !== undefined) {
    const other = selective && selective.estimate < text.estimate ? selective : undefined;
    trace.note('lead', { by: other?.by ?? 'text', estimate: other?.estimate ?? text.estimate });
    return findRanked(search, text, { spatial, other });
  }
  const lead = selective ?? spatial ?? byFilter;
  if (lead === undefined) return { keys: streamOnce([]) };
  trace.note('lead', { by: lead.by, estimate: lead.estimate });
  if (spatial === undefined) return checkCandidates(search, await lead.open());
  if (lead === spatial && spatial.isDecided) return checkCandidates(search, await spatial.open());
  // Few hits are sorted; many come in the order of the geometries.
  const found = checkConstraints(spatial, filterCandidates(search, await lead.open()));
  return { keys: selective ? sortHits(found) : dropRepeats(found), isSettled: true };
}

/** To check few geometries against the filter one by one is faster than to ask the index about the filter. */
function asksFilter({ filter, text }: Plan, spatial: SpatialSearch | undefined): boolean {
  if (spatial) return filter !== undefined && spatial.estimate > fewGeometries;
  return filter !== undefined || text === undefined;
}

const fewGeometries = 1_000;

async function* checkConstraints(
  spatial: SpatialSearch,
  batches: AsyncIterable<readonly number[]>,
): AsyncGenerator<Hit[]> {
  for await (const keys of batches)
    for (const batch of inBatches(keys, checkedAtOnce)) yield await spatial.check(batch);
}

/** A catalog that is proposed as a whole may have many more. */
const checkedAtOnce = 2_000;

async function* dropRepeats(batches: AsyncIterable<readonly Hit[]>): AsyncGenerator<number[]> {
  const seen = new Set<number>();
  for await (const batch of batches) {
    const fresh = batch.map(({ key }) => key).filter((key) => !seen.has(key));
    for (const key of fresh) seen.add(key);
    yield fresh;
  }
}
