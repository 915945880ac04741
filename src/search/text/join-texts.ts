import type { Search } from '../candidates.ts';
import { difference, type Keys, union } from '../lists/key-sets.ts';
import { sortByRank } from './best-first.ts';
import type { Ranked } from './rank-keys.ts';

/** A text search: it proposes candidates, the rarest words first, and ranks whatever it is given. */
export interface TextSearch {
  /** How many candidates there are, about. */
  estimate: number;
  /** All of them surely are: the order of the answer is that of the ranks. */
  isRankedTogether: boolean;
  /** All resources in scope that have one of the words, the best first: first those with the rarest words, as many as are ranked together. */
  best(wanted: Wanted): AsyncGenerator<Ranked>;
  /** Those among these resources that have one of the words, in the order of keys. */
  rank(keys: Keys): Promise<Ranked>;
  /** The resources that have one of the words, in no order of ranks. */
  gather(): AsyncGenerator<Keys>;
}

/** How many of the best are wanted at once. */
export interface Wanted {
  count: number;
  /** Whether the others are only counted: then they come in any order, and without ranks. */
  areOthersCounted: boolean;
}

/**
 * One text search of several, while the index has entries of two formats that cut the text into other words: each finds documents of its own format. A resource
 * counts as much as the best of them says; they may find it by offers of different catalogs.
 */
export function joinTexts(search: Search, texts: readonly TextSearch[]): TextSearch {
  const [only, second] = texts;
  if (only && second === undefined) return only;
  const rank = async (keys: Keys) => pickBestRanks(await Promise.all(texts.map((text) => text.rank(keys))));
  const gather = () => gatherTogether(texts);
  return {
    estimate: texts.reduce((sum, { estimate }) => sum + estimate, 0),
    isRankedTogether: texts.every(({ isRankedTogether }) => isRankedTogether),
    rank,
    gather,
    async *best() {
      for await (const keys of gather()) {
        search.deadline.check();
        yield sortByRank(await rank(keys));
      }
    },
  };
}

/** A part of each at a time, none twice. */
async function* gatherTogether(texts: readonly TextSearch[]): AsyncGenerator<Keys> {
  let left = texts.map((text) => text.gather());
  let done: Keys = new Float64Array();
  while (left.length > 0) {
    const parts = await Promise.all(left.map((each) => each.next()));
    left = left.filter((_, index) => parts[index]?.done !== true);
    const found = difference(union(parts.flatMap((part) => (part.done ? [] : [part.value]))), done);
    if (found.length > 0) yield found;
    done = union([done, found]);
  }
}

function pickBestRanks(all: readonly Ranked[]): Ranked {
  const ranks = new Map<number, number>();
  for (const each of all)
    for (const [index, key] of each.keys.entries())
      ranks.set(key, Math.max(ranks.get(key) ?? 0, each.ranks[index] as number));
  const keys = Float64Array.from(ranks.keys()).sort();
  return { keys, ranks: Float64Array.from(keys, (key) => ranks.get(key) ?? 0) };
}
