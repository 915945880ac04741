import { type AskedWord, bandOf, roundRank, type TextQuery } from '../../rules/text/rank.ts';
import type { Run } from '../cache/caches.ts';
import { type Hit, sortHits } from '../hit.ts';
import { headOf, isResource, span } from '../keys.ts';
import { gallop, type Keys } from '../set/sorted.ts';

// Ranks many resources at once: rules/text/rank.ts over posting lists. A word takes a tenth of a millisecond for ten thousand resources.

/** Finds the postings of words around candidates: of resources, and of heads and offers, which count for all resources of their catalog. */
export interface ReadPostings {
  (words: readonly AskedWord[], keys: Keys): Promise<(word: string) => readonly Run[]>;
  /** How many of the first words to read together, at least one. After these, fewer candidates may be left. */
  countTogether(words: readonly AskedWord[]): number;
}

/** A hit of a text. */
export type RankedHit = Hit & { rank: number };

/** Resources in key order, with the sums of the words added so far. */
interface Ranking {
  keys: Keys;
  ranks: Float64Array;
  bands: Float64Array;
}

function startRanking(keys: Keys): Ranking {
  return { keys, ranks: new Float64Array(keys.length), bands: new Float64Array(keys.length) };
}

/** Ranks the resources that have one of the words, in key order. */
export async function rankKeys(query: TextQuery, keys: Keys, readPostings: ReadPostings) {
  const ranking = startRanking(keys);
  const postingsOf = await readPostings(query.words, keys);
  for (const word of query.words) addWord(ranking, word, postingsOf);
  return finishRanking(ranking);
}

/** Drops resources without any word, and rounds, so that ranks equal by the rules are equal. A tiny weight may round to rank 0, but the hit stays. */
function finishRanking({ keys, ranks, bands }: Ranking, least = 0): RankedHit[] {
  const hits: RankedHit[] = [];
  for (let index = 0; index < keys.length; index++) {
    const sum = ranks[index] as number;
    const rank = roundRank(sum);
    if (sum > 0 && rank >= least)
      hits.push({ key: keys[index] as number, rank, band: roundRank(bands[index] as number) });
  }
  return hits;
}

/** Raises ranks by the weight of one word of a query: that of its best match. */
function addWord(
  { keys, ranks, bands }: Ranking,
  { variants, rarity }: AskedWord,
  postingsOf: (word: string) => readonly Run[],
): void {
  if (variants.length === 0) return;
  const best = new Float64Array(keys.length);
  const isExact = new Uint8Array(keys.length);
  for (const variant of variants)
    for (const run of postingsOf(variant.word))
      raise(run, keys, variant.weight, best, variant.form === 'exact' ? isExact : undefined);
  const [exact, inexact] = [bandOf(rarity, true), bandOf(rarity, false)];
  for (let index = 0; index < keys.length; index++) {
    if (best[index] === 0) continue;
    ranks[index] = (ranks[index] as number) + (best[index] as number);
    bands[index] = (bands[index] as number) + (isExact[index] === 1 ? exact : inexact);
  }
}

/** Raises the weight of a word if a posting is one of the keys, or belongs to its catalog. The postings of a catalog are adjacent. */
function raise(
  { keys: postings, marks }: Run,
  keys: Keys,
  weight: number,
  best: Float64Array,
  isExact: Uint8Array | undefined,
): void {
  const raiseTo = (index: number, percent: number) => {
    const counts = weight * (percent / 100);
    if (counts > (best[index] as number)) best[index] = counts;
    if (isExact) isExact[index] = 1;
  };
  for (let at = 0, index = 0; at < postings.length && index < keys.length; ) {
    const head = headOf(postings[at] as number);
    const key = keys[index] as number;
    if (key < head) {
      index = gallop(keys, head, index);
      continue;
    }
    const end = head + span;
    if (key >= end) {
      at = gallop(postings, headOf(key), at);
      continue;
    }
    let ofCatalog = 0;
    const start = index;
    for (; at < postings.length && (postings[at] as number) < end; at++) {
      const posting = postings[at] as number;
      if (!isResource(posting - head)) ofCatalog = Math.max(ofCatalog, marks[at] as number);
      else {
        while (index < keys.length && (keys[index] as number) < posting) index++;
        if (keys[index] === posting) raiseTo(index, marks[at] as number);
      }
    }
    while (index < keys.length && (keys[index] as number) < end) index++;
    if (ofCatalog > 0) for (let each = start; each < index; each++) raiseTo(each, ofCatalog);
  }
}

// The best k of many candidates, by upper bounds (MaxScore). The words with the highest weights are added first. After each, the rank that k candidates have reached is the threshold. A candidate that cannot reach it
// with all remaining words is dropped, so the most frequent words are looked up for few resources only. The other candidates are ranked only if the caller reads that far.

/** `best`: at least `count` hits, including all with the last rank; the best first. */
export async function rankBestFirst(query: TextQuery, keys: Keys, readPostings: ReadPostings, count: number) {
  const { ranking, reached } = await rankLikely(query, keys, readPostings, count);
  const threshold = Math.max(reached, findReached(ranking.ranks, count));
  return {
    best: sortHits(finishRanking(ranking, threshold)),
    rankOthers: async () =>
      sortHits((await rankKeys(query, keys, readPostings)).filter(({ rank }) => rank < threshold)),
  };
}

/** A rank that enough candidates reach, and all candidates that reach it, among others. */
async function rankLikely(query: TextQuery, keys: Keys, readPostings: ReadPostings, count: number) {
  const words = [...query.words].sort((a, b) => boundOf(b) - boundOf(a));
  let ranking = startRanking(keys);
  let reached = 0;
  let toCome = words.reduce((sum, word) => sum + boundOf(word), 0);
  for (let next = 0; next < words.length; ) {
    const together = words.slice(next, next + readPostings.countTogether(words.slice(next)));
    const postingsOf = await readPostings(together, ranking.keys);
    next += together.length;
    for (const word of together) {
      addWord(ranking, word, postingsOf);
      toCome -= boundOf(word);
      if (ranking.keys.length <= count) continue;
      reached = Math.max(reached, findReached(ranking.ranks, count, toCome));
      // Candidates without any of the words so far may still overtake.
      if (reached > toCome) ranking = dropBelow(ranking, reached - toCome - slack);
    }
  }
  return { ranking, reached };
}

function dropBelow({ keys, ranks, bands }: Ranking, least: number): Ranking {
  const left = startRanking(new Float64Array(keys.length));
  let count = 0;
  for (let index = 0; index < keys.length; index++) {
    if ((ranks[index] as number) < least) continue;
    left.keys[count] = keys[index] as number;
    left.ranks[count] = ranks[index] as number;
    left.bands[count++] = bands[index] as number;
  }
  return {
    keys: left.keys.subarray(0, count),
    ranks: left.ranks.subarray(0, count),
    bands: left.bands.subarray(0, count),
  };
}

/** Upper bound of the weight of a word. */
function boundOf({ variants }: AskedWord): number {
  return Math.max(0, ...variants.map(({ weight }) => weight));
}

/** A rank that `count` candidates reach, and few more. Counts ranks in steps, from the highest down. 0 if none is higher than `least`. */
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
/** Larger than rounding errors of sums and ranks. */
const slack = 1e-8;
