import type { WordVariant } from '../../rules/text/rank.ts';
import type { Search } from '../candidates.ts';
import { catalogKeyOf, keyOf } from '../documents/keys.ts';
import type { Keys } from '../lists/key-sets.ts';
import { estimateProbe } from '../lists/outlines.ts';
import type { WholeList } from '../lists/posting-list.ts';
import { emptyWhole } from '../lists/read-whole.ts';
import { type DirectoryReader, openDirectories } from '../lists/run-directory.ts';
import { wordList } from '../lists/runs.ts';
import { readWordsAmong } from './match-words.ts';
import type { WordProbe } from './rank-keys.ts';
import { type KnownText, restrictWhole, type WordEntry } from './read-words.ts';

// Where the words of a text stand among candidates. Rare words are known whole. Of common words only what lies among the candidates is read, a few words at a time: after these, fewer candidates are left
// (best-first.ts). Where candidates are few and far between, they are asked for their words instead.

/** To look up the words of one resource takes as long as to read and walk along so many postings. */
const lookUpCost = 100;
/** So many postings of common words are read at a time; which runs they are in is asked for more of them, which may be needed next. */
const postingsAtOnce = 60_000;
const postingsInDirectory = 600_000;

/** Postings of offers, by the words' numbers, where those of the entries are not meant. */
interface OfferedPostings {
  own: ReadonlyMap<number, WholeList>;
  offered: ReadonlyMap<number, WholeList>;
}

export function probeWords(
  { database }: Pick<Search, 'database'>,
  { entries, lookup }: KnownText,
  { own, offered }: OfferedPostings,
): WordProbe {
  const read = new Map<number, readonly WholeList[]>();
  let directories: DirectoryReader | undefined;

  async function readAlong(common: readonly WordEntry[], keys: Keys): Promise<void> {
    const found = await directories?.read(common.map(listOf), keys);
    for (const { id } of common) {
      const runs = found?.get(wordList(id)) ?? [];
      read.set(id, lookup.isLookedFor ? runs.map((run) => restrictWhole(lookup, run)) : runs);
    }
  }

  async function lookUp(common: readonly WordEntry[], keys: Keys): Promise<void> {
    const found = await readWordsAmong(database, new Set(common.map(({ id }) => id)), keys);
    for (const { id } of common) read.set(id, [restrictWhole(lookup, found.get(id) ?? emptyWhole)]);
  }

  return {
    async readNext(words, keys) {
      const [first, last] = [keys[0], keys.at(-1)];
      if (first === undefined || last === undefined) return words.length;
      const range = { from: keyOf(catalogKeyOf(first), 0), upTo: last };
      const unread = words.map((variants) => findUnread(variants, last));
      const costs = unread.map((common) =>
        sum(common.map(({ postings }) => estimateProbe(postings, keys, range))),
      );
      const count = countWithin(costs, postingsAtOnce);
      const postings = sum(costs.slice(0, count));
      if (keys.length * lookUpCost < postings) {
        await lookUp(unread.flat(), keys);
        return words.length;
      }
      const next = unread.slice(0, count).flat();
      if (next.some((entry) => !directories?.has(listOf(entry)))) {
        const soon = unread.slice(0, countWithin(costs, postingsInDirectory)).flat();
        directories = await openDirectories(database, soon.map(listOf), last);
      }
      await readAlong(next, keys);
      return count;
    },
    postingsOf(word) {
      const entry = entries.get(word);
      if (entry === undefined) return [];
      const { id, prefix, standing, home } = entry;
      return [
        ...(read.get(id) ?? prefix.parts),
        standing,
        own.get(id) ?? home.own,
        offered.get(id) ?? entry.offered,
      ];
    },
  };

  /** The words of which more has to be read than the beginnings of their lists. */
  function findUnread(variants: readonly WordVariant[], last: number): WordEntry[] {
    return variants
      .flatMap(({ word }) => entries.get(word) ?? [])
      .filter(({ id, prefix }) => prefix.upTo <= last && !read.has(id));
  }
}

/** How many of the first add up to no more; but one that costs something at least. */
function countWithin(costs: readonly number[], limit: number): number {
  let [count, total] = [0, 0];
  for (; count < costs.length; count++) {
    const cost = costs[count] ?? 0;
    if (total > 0 && total + cost > limit) break;
    total += cost;
  }
  return count;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function listOf({ id }: WordEntry): number {
  return wordList(id);
}
