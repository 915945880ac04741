import { defaultLimit } from '../../rules/discover/page-answer.ts';
import { passing } from './passing.ts';
import type { Found, Proposal, Search } from './search.ts';
import type { SpatialSearch } from './spatial.ts';
import { inOrder, type Standing, sorted } from './standing.ts';
import type { TextSearch, WordStream } from './text.ts';

/** Decided: where more match, the rank is decided among as many with the rarest words. */
const maxRanked = 10_000;
/** Few are usually enough; later steps are longer, because each has its price. */
const firstStep = 500;
const laterStep = 2_000;

export interface RankedOptions {
  needed: number;
  spatial?: SpatialSearch;
  /** A part that proposes fewer candidates than the words would. */
  other?: Proposal;
}

/** Resources that have a word of the text and satisfy everything else, best first. */
export async function findRanked(search: Search, text: TextSearch, options: RankedOptions): Promise<Found> {
  const { other } = options;
  if (other) return inOrder(ranked(text, options, other.batches()));
  const found = new Map<number, Standing>();
  const open = [...text.streams];
  for (let step = firstStep; open.length > 0 && found.size < maxRanked; step = laterStep) {
    search.deadline.check();
    const keys = await nextKeys(open, step);
    if (keys.length === 0) continue;
    for await (const batch of ranked(text, options, candidates(search, keys))) {
      for (const standing of batch) found.set(standing.key, standing);
    }
    if (isSettled(search, text, options, found, open)) break;
  }
  const keys = sorted([...found.values()]);
  return { keys, total: keys.length };
}

/** Of the rarest word that still has some; a stream that has none is closed. */
async function nextKeys(open: WordStream[], limit: number): Promise<number[]> {
  const [stream] = open;
  const keys = (await stream?.next(limit)) ?? [];
  if (keys.length === 0) open.shift();
  return keys;
}

async function* candidates(search: Search, keys: readonly number[]): AsyncGenerator<Standing[]> {
  for await (const passed of passing(search, { kind: 'keys', keys })) yield passed.map((key) => ({ key }));
}

async function* ranked(
  text: TextSearch,
  { spatial }: RankedOptions,
  batches: AsyncIterable<Standing[]>,
): AsyncGenerator<Standing[]> {
  for await (const batch of batches) {
    const placed = spatial ? await spatial.check(batch) : batch;
    const ranks = await text.rank(placed.map(({ key }) => key));
    yield placed.flatMap((standing) => {
      const rank = ranks.get(standing.key);
      return rank === undefined ? [] : [{ ...standing, rank }];
    });
  }
}

/**
 * Whether nothing that comes later can stand on the page: enough were counted, and the last one on it ranks at least as high as the best that
 * the open streams could bring. What comes later with the same rank stands after it, unless the distance decides.
 */
function isSettled(
  { plan: { paging } }: Search,
  text: TextSearch,
  { needed, spatial }: RankedOptions,
  found: ReadonlyMap<number, Standing>,
  open: readonly WordStream[],
): boolean {
  if (found.size < needed) return false;
  const { limit = defaultLimit, offset = 0 } = paging;
  const ranks = [...found.values()].map(({ rank = 0 }) => rank).sort((a, b) => b - a);
  const last = ranks[offset + limit - 1] ?? 0;
  const best = text.bestRankIn(open);
  return spatial?.hasDistance ? last > best : last >= best;
}
