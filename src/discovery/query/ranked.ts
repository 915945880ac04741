import { defaultLimit } from '../../rules/discover/page-answer.ts';
import { passingOf } from './passing.ts';
import type { Found, Proposal, Search } from './search.ts';
import type { SpatialSearch } from './spatial.ts';
import { inOrder, type Standing, sorted } from './standing.ts';
import type { TextSearch } from './text.ts';

/** Decided: where more match, the rank is decided among as many with the rarest words. */
const maxRanked = 10_000;
/** Often the best are among the first. */
const firstRanked = 2_000;
/** So many of them, best first, are held against everything else at a time. */
const checkedAtOnce = 1_200;

export interface RankedOptions {
  needed: number;
  spatial?: SpatialSearch;
  /** A part that proposes fewer candidates than the words would. */
  other?: Proposal;
}

/** Resources that have a word of the text and satisfy everything else, best first. */
export async function findRanked(search: Search, text: TextSearch, options: RankedOptions): Promise<Found> {
  const { other, needed, spatial } = options;
  if (other) return inOrder(rank(text, spatial, other.batches()));
  const found: Standing[] = [];
  for (let gathered = 0; gathered < maxRanked || found.length < needed; ) {
    const candidates = await text.gather(gathered === 0 ? firstRanked : maxRanked - firstRanked);
    if (candidates.length === 0) break;
    gathered += candidates.length;
    for (let start = 0; start < candidates.length; start += checkedAtOnce) {
      if (isSettled(search, options, found, candidates[start]?.rank)) break;
      const best = new Map(
        candidates.slice(start, start + checkedAtOnce).map(({ key, rank }) => [key, rank]),
      );
      for await (const batch of check(search, spatial, [...best.keys()])) {
        found.push(...batch.map((standing) => ({ ...standing, rank: best.get(standing.key) })));
      }
    }
    if (isSettled(search, options, found, text.bestUngathered())) break;
  }
  const keys = sorted(found);
  return { keys, total: keys.length };
}

async function* check(
  search: Search,
  spatial: SpatialSearch | undefined,
  keys: readonly number[],
): AsyncGenerator<Standing[]> {
  for await (const passed of passingOf(search, keys)) {
    const standings = passed.map((key) => ({ key }));
    yield spatial ? await spatial.check(standings) : standings;
  }
}

async function* rank(
  text: TextSearch,
  spatial: SpatialSearch | undefined,
  batches: AsyncIterable<Standing[]>,
): AsyncGenerator<Standing[]> {
  for await (const batch of batches) {
    const placed = spatial ? await spatial.check(batch) : batch;
    const standings = new Map(placed.map((standing) => [standing.key, standing]));
    const ranked = await text.rank([...standings.keys()]);
    yield ranked.map(({ key, rank: found }) => ({ ...standings.get(key), key, rank: found }));
  }
}

/**
 * Whether nothing that ranks no higher than this can stand on the page any more: enough were counted, and the last one on the page ranks at
 * least as high. Of equal ranks the earlier key stands first, which is the one that was found first, unless the distance decides.
 */
function isSettled(
  { plan: { paging } }: Search,
  { needed, spatial }: RankedOptions,
  found: readonly Standing[],
  nextRank = 0,
): boolean {
  if (found.length < needed) return false;
  const { limit = defaultLimit, offset = 0 } = paging;
  const ranks = found.map(({ rank = 0 }) => rank).sort((a, b) => b - a);
  const last = ranks[offset + limit - 1] ?? 0;
  return spatial?.hasDistance ? nextRank < last : nextRank <= last;
}
