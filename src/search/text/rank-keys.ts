import { type AskedWord, bandOf, roundRank, type TextQuery } from '../../rules/text/rank.ts';
import type { Run } from '../cache/caches.ts';
import { headOf, kindOf, span } from '../keys.ts';
import { concatenate, gallop, type Keys, lowerBound } from '../set/sorted.ts';

// Ranks many resources at once, from the postings of words: rules/text/rank.ts over posting lists instead of documents. Keys and postings are walked along once, without calls or objects for each: of ten
// thousand resources, a word takes a tenth of a millisecond.

/** Resources in order of keys or of ranks, and beside each its rank, and its band. */
export interface Ranked {
  keys: Keys;
  ranks: Float64Array;
  bands: Float64Array;
}

/** Finds the postings of words around candidates: of resources, and of heads and offers, which count for all resources of their catalog. */
export interface ReadPostings {
  (words: readonly AskedWord[], keys: Keys): Promise<(word: string) => readonly Run[]>;
  /** How many of the first of some words are read together: after these, fewer candidates may be left. One at least. */
  countTogether(words: readonly AskedWord[]): number;
}

export const noneRanked: Ranked = withoutRanks(new Float64Array());

export function withoutRanks(keys: Keys): Ranked {
  return { keys, ranks: new Float64Array(keys.length), bands: new Float64Array(keys.length) };
}

/** Those of the resources, whose keys are in order, where one of the words stands, with their ranks. */
export async function rankKeys(query: TextQuery, keys: Keys, readPostings: ReadPostings): Promise<Ranked> {
  const ranked = withoutRanks(keys);
  const postingsOf = await readPostings(query.words, keys);
  for (const word of query.words) addWord(ranked, word, postingsOf);
  return finishRanks(ranked);
}

/** When all words are added: resources without any word are left out, and ranks that are equal by the rules are equal. A word that counts next to nothing may round to no rank: it is found all the same. */
function finishRanks(ranked: Ranked): Ranked {
  const found = selectRanks(ranked, Number.MIN_VALUE, Number.POSITIVE_INFINITY);
  for (const column of [found.ranks, found.bands])
    for (let index = 0; index < column.length; index++) column[index] = roundRank(column[index] as number);
  return found;
}

/** Raises ranks by what one word of a query counts: by the best that it stands for. */
function addWord(
  { keys, ranks, bands }: Ranked,
  { variants, rarity }: AskedWord,
  postingsOf: (word: string) => readonly Run[],
): void {
  if (variants.length === 0) return;
  const best = new Float64Array(keys.length);
  const isExact = new Uint8Array(keys.length);
  for (const variant of variants)
    for (const run of postingsOf(variant.word))
      raise(run, keys, variant.weight, best, variant.isExact ? isExact : undefined);
  const [exact, inexact] = [bandOf(rarity, true), bandOf(rarity, false)];
  for (let index = 0; index < keys.length; index++) {
    if (best[index] === 0) continue;
    ranks[index] = (ranks[index] as number) + (best[index] as number);
    bands[index] = (bands[index] as number) + (isExact[index] === 1 ? exact : inexact);
  }
}

/** Raises what a word counts where a posting is one of the keys, or says something of its catalog. The postings of a catalog stand side by side. */
function raise(
  { keys: postings, marks }: Run,
  keys: Keys,
  weight: number,
  best: Float64Array,
  isExact: Uint8Array | undefined,
): void {
  for (let at = 0, index = 0; at < postings.length && index < keys.length; ) {
    const head = headOf(postings[at] as number);
    const key = keys[index] as number;
    if (key < head) {
      index = gallop(keys, head, index);
      continue;
    }
    if (key >= head + span) {
      at = gallop(postings, headOf(key), at);
      continue;
    }
    let ofCatalog = 0;
    let next = index;
    for (; at < postings.length && (postings[at] as number) < head + span; at++) {
      const posting = postings[at] as number;
      if (kindOf(posting) !== 'resource') {
        ofCatalog = Math.max(ofCatalog, marks[at] as number);
        continue;
      }
      while (next < keys.length && (keys[next] as number) < posting) next++;
      if (keys[next] === posting) raiseTo(best, isExact, next, weight, marks[at] as number);
    }
    const end = lowerBound(keys, head + span, index);
    if (ofCatalog > 0) for (; index < end; index++) raiseTo(best, isExact, index, weight, ofCatalog);
    index = end;
  }
}

function raiseTo(
  best: Float64Array,
  isExact: Uint8Array | undefined,
  index: number,
  weight: number,
  percent: number,
): void {
  const counts = weight * (percent / 100);
  if (counts > (best[index] as number)) best[index] = counts;
  if (isExact) isExact[index] = 1;
}

/** Those with a rank from one up to, but without, another. */
export function selectRanks(ranked: Ranked, from: number, upTo: number): Ranked {
  const { ranks } = ranked;
  const indexes = new Uint32Array(ranks.length);
  let count = 0;
  for (let index = 0; index < ranks.length; index++)
    if ((ranks[index] as number) >= from && (ranks[index] as number) < upTo) indexes[count++] = index;
  return count === ranks.length ? ranked : pick(ranked, indexes.subarray(0, count));
}

/** The highest rank first, equal ones in the order of keys. */
export function sortByRank(ranked: Ranked): Ranked {
  const { ranks, keys } = ranked;
  const indexes = new Uint32Array(keys.length);
  for (let index = 0; index < indexes.length; index++) indexes[index] = index;
  const order = indexes.sort(
    (a, b) => (ranks[b] as number) - (ranks[a] as number) || (keys[a] as number) - (keys[b] as number),
  );
  return pick(ranked, order);
}

/** The highest rank first, of several. */
export function mergeRanked(parts: readonly Ranked[]): Ranked {
  const join = (column: keyof Ranked) => concatenate(parts.map((part) => part[column]));
  return sortByRank({ keys: join('keys'), ranks: join('ranks'), bands: join('bands') });
}

export function slice({ keys, ranks, bands }: Ranked, from: number, to?: number): Ranked {
  return { keys: keys.subarray(from, to), ranks: ranks.subarray(from, to), bands: bands.subarray(from, to) };
}

function pick({ keys, ranks, bands }: Ranked, indexes: Uint32Array): Ranked {
  const picked = withoutRanks(new Float64Array(indexes.length));
  for (let at = 0; at < indexes.length; at++) {
    const index = indexes[at] as number;
    picked.keys[at] = keys[index] as number;
    picked.ranks[at] = ranks[index] as number;
    picked.bands[at] = bands[index] as number;
  }
  return picked;
}

// The best k of many candidates, by upper bounds (MaxScore). The words that count most are added first. After each, so many ranks are reached already: that is the threshold. A candidate that cannot reach it
// with all words that are to come is dropped, so that the words that stand nearly everywhere are looked for in few resources. The others are ranked only if somebody reads that far.

interface BestFirst {
  /** At least so many as were asked for, and all of the last rank among them; the best first. */
  best: Ranked;
  rankOthers(): Promise<Ranked>;
}

export async function rankBestFirst(
  query: TextQuery,
  keys: Keys,
  readPostings: ReadPostings,
  count: number,
): Promise<BestFirst> {
  const likely = await rankLikely(query, keys, readPostings, count);
  const threshold = Math.max(likely.threshold, findReached(likely.ranked.ranks, count));
  return {
    best: sortByRank(selectRanks(likely.ranked, threshold, Number.POSITIVE_INFINITY)),
    rankOthers: async () => sortByRank(selectRanks(await rankKeys(query, keys, readPostings), 0, threshold)),
  };
}

/** A rank that enough reach, and among others all candidates that reach it. */
async function rankLikely(
  query: TextQuery,
  keys: Keys,
  readPostings: ReadPostings,
  count: number,
): Promise<{ ranked: Ranked; threshold: number }> {
  const words = [...query.words].sort((a, b) => boundOf(b) - boundOf(a));
  let ranked = withoutRanks(keys);
  let threshold = 0;
  let toCome = words.reduce((sum, word) => sum + boundOf(word), 0);
  for (let next = 0; next < words.length; ) {
    const together = words.slice(next, next + readPostings.countTogether(words.slice(next)));
    const postingsOf = await readPostings(together, ranked.keys);
    next += together.length;
    for (const word of together) {
      addWord(ranked, word, postingsOf);
      toCome -= boundOf(word);
      if (ranked.keys.length <= count) continue;
      threshold = Math.max(threshold, findReached(ranked.ranks, count, toCome));
      // Whatever has none of the words so far may still overtake.
      if (threshold > toCome)
        ranked = selectRanks(ranked, threshold - toCome - slack, Number.POSITIVE_INFINITY);
    }
  }
  return { ranked: finishRanks(ranked), threshold };
}

/** What a word counts at most. */
function boundOf({ variants }: AskedWord): number {
  return Math.max(0, ...variants.map(({ weight }) => weight));
}

/** A rank that so many reach, and few more: ranks are counted in steps, from the highest one down. 0 where none is higher than `least`. */
function findReached(ranks: Float64Array, count: number, least = 0): number {
  let highest = 0;
  for (const rank of ranks) highest = Math.max(highest, rank);
  if (highest <= least) return 0;
  const stepsOfOne = steps / highest;
  const counts = new Uint32Array(steps + 1);
  for (const rank of ranks) {
    const step = Math.floor(rank * stepsOfOne);
    counts[step] = (counts[step] as number) + 1;
  }
  let step = steps;
  for (let reached = counts[step] as number; reached < count && step > 0; )
    reached += counts[--step] as number;
  return Math.max(0, step / stepsOfOne - slack);
}

const steps = 1_000;
/** More than what sums differ by in their last digits, and what ranks are rounded by. */
const slack = 1e-8;
