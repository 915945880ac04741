import { maxLimit, neededCount, type Paging } from '../../rules/discover/page-answer.ts';
import { type Candidates, type Proposal, type Search, streamOnce } from '../candidates.ts';
import { checkCandidates, filterCandidates } from '../filter/check.ts';
import { type Keys, keysOf } from '../lists/key-sets.ts';
import { type Hit, sortHits, sortKeys } from '../order.ts';
import type { SpatialSearch } from '../spatial/spatial-search.ts';
import type { TextSearch, Wanted } from './join-texts.ts';
import type { Ranked } from './rank-keys.ts';

/** So many of the ranked, best first, are held against other constraints at a time. */
const checkedAtOnce = 1_200;
const inOrder: Wanted = { count: checkedAtOnce, areOthersCounted: false };

/** Resources that have a word of the text, best first. */
export async function findRanked(
  search: Search,
  text: TextSearch,
  { spatial, other }: { spatial?: SpatialSearch; other?: Proposal },
): Promise<Candidates> {
  if (other) {
    const found = rankHits(text, spatial, filterCandidates(search, await other.open()));
    return { keys: sortHits(found), isSettled: true };
  }
  if (spatial) return { keys: streamOnce(await findNearRanked(search, text, spatial)), isSettled: true };
  const { filter, paging } = search.plan;
  // By the text alone, the page is known with the best; all others are only counted.
  const wanted = filter ? inOrder : { count: pageEnd(paging), areOthersCounted: true };
  return checkCandidates(search, { keys: streamBest(text, wanted), check: filter?.checkBeside([]) });
}

async function* streamBest(text: TextSearch, wanted: Wanted): AsyncGenerator<Keys> {
  for await (const { keys } of text.best(wanted)) yield keys;
}

function pageEnd({ limit = maxLimit, offset = 0 }: Paging): number {
  return offset + limit;
}

/** Few candidates of another part, with their ranks. */
async function* rankHits(
  text: TextSearch,
  spatial: SpatialSearch | undefined,
  batches: AsyncIterable<readonly number[]>,
): AsyncGenerator<Hit[]> {
  for await (const keys of batches) {
    const located = spatial ? await spatial.check(keys) : keys.map((key): Hit => ({ key }));
    const hits = new Map(located.map((hit) => [hit.key, hit]));
    const found = await text.rank(keysOf(hits.keys()));
    yield Array.from(found.keys, (key, index) => ({ ...hits.get(key), key, rank: found.ranks[index] }));
  }
}

/** Of equal ranks the nearer one stands first: those of the last rank on the page are all looked at. */
async function findNearRanked(search: Search, text: TextSearch, spatial: SpatialSearch): Promise<number[]> {
  const found: Hit[] = [];
  for await (const best of text.best(inOrder)) {
    for (let start = 0; start < best.keys.length; start += checkedAtOnce) {
      if (isPageSettled(search, found, best.ranks[start])) return sortKeys(found);
      const end = start + checkedAtOnce;
      const next = { keys: best.keys.subarray(start, end), ranks: best.ranks.subarray(start, end) };
      found.push(...(await findNear(search, spatial, next)));
    }
    // What comes next has only words that are more common.
    if (found.length >= neededCount(search.plan.paging)) break;
  }
  return sortKeys(found);
}

async function findNear(search: Search, spatial: SpatialSearch, best: Ranked): Promise<Hit[]> {
  const ranks = new Map(Array.from(best.keys, (key, index) => [key, best.ranks[index]]));
  const candidates = { keys: streamOnce(best.keys), check: search.plan.filter?.checkBeside([]) };
  const found: Hit[] = [];
  for await (const keys of filterCandidates(search, candidates)) {
    for (const hit of await spatial.check(keys)) {
      found.push({ ...hit, rank: ranks.get(hit.key) });
    }
  }
  return found;
}

/** Whether nothing of the next rank can stand on the page any more: enough were counted, and the last one on the page ranks higher. */
function isPageSettled({ plan: { paging } }: Search, found: readonly Hit[], nextRank = 0): boolean {
  if (found.length < neededCount(paging)) return false;
  const ranks = found.map(({ rank = 0 }) => rank).sort((a, b) => b - a);
  return nextRank < (ranks[pageEnd(paging) - 1] ?? 0);
}
