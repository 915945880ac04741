import { bigintArray } from '../../storage/binary-arrays.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import { countLists } from './count-lists.ts';
import type { Keys } from './key-sets.ts';
import { maxRunKeys, readRuns, runBytes, sortPostings } from './posting-list.ts';
import { type KeyRange, type ListRest, sliceBetween } from './read-parts.ts';
import { countKeys, divideHeads, type WholeList } from './read-whole.ts';
import type { Directory } from './run-directory.ts';

// Outlines of posting lists: what a search knows of each word of its text before it decides which lists to read further.

/** What is cached of a list. It is invalidated when the list has changed; that runs of it were merged changes nothing. */
export interface ListOutline {
  /** All of it, or what its first run holds of a long one. */
  part: FirstPart;
  /** How many keys it has, about. */
  count: number;
  directory?: Directory;
}

interface FirstPart extends WholeList {
  /** Where the next part begins; undefined where this is all. */
  rest?: ListRest;
}

/** A run has up to 320 keys. Of a longer list no more than its first run is read at first: mostly other words are rarer, and it is looked into where their candidates are. */
const maxRuns = 8;

/** The outlines of lists, by their numbers. */
export async function readOutlines(
  reader: IndexReader,
  lists: readonly number[],
): Promise<Map<number, ListOutline>> {
  const { outlines } = reader.caches;
  const known = new Map<number, ListOutline>();
  for (const list of lists) {
    const outline = outlines.find(list);
    if (outline) known.set(list, outline);
  }
  const unknown = lists.filter((list) => !known.has(list));
  if (unknown.length === 0) return known;
  const { found, mayKeep } = await readForCache(reader, async () => {
    const parts = await readBeginnings(reader, unknown);
    const long = unknown.filter((list) => parts.get(list)?.rest);
    return { parts, counts: await countLists(reader, long) };
  });
  for (const [list, part] of found.parts) {
    const outline = { part, count: found.counts.get(list) ?? countKeys(part) };
    known.set(list, outline);
    if (mayKeep) outlines.keep(list, outline);
  }
  return known;
}

/** All of a list with up to so many runs, and one run of a longer one. */
async function readBeginnings(
  reader: IndexReader,
  lists: readonly number[],
): Promise<Map<number, FirstPart>> {
  const { rows } = await reader.query<{ list: number; is_long: boolean; bytes: Buffer }>(
    `select wanted.list, runs.* from unnest($1::bigint[]) as wanted (list)
     cross join lateral (
       select coalesce(bool_or(number > $2), false) as is_long,
         coalesce(string_agg(bytes, '' order by number) filter (where number <= 2 or total <= $2), '') as bytes
       from (
         select ${runBytes} as bytes, row_number() over () as number, count(*) over () as total from (
           select first, weight, bytes from discovery.run where run.list = wanted.list order by first limit $2 + 1
         ) as first
       ) as numbered
     ) as runs`,
    [bigintArray(lists), maxRuns],
    { prepared: true },
  );
  return new Map(rows.map(({ list, is_long, bytes }) => [list, decodePart(list, bytes, is_long)]));
}

/** Of a long list the second run tells where the first part ends. */
function decodePart(list: number, bytes: Buffer, isLong: boolean): FirstPart {
  const { list: found, starts } = readRuns(bytes);
  const from = isLong ? found.keys[starts[1] ?? 0] : undefined;
  const sorted = sortPostings(found);
  if (from === undefined) return divideHeads(sorted);
  return { ...divideHeads(sliceBetween(sorted, 0, from)), rest: { list, from } };
}

/** How many postings of a list have to be read to look for some keys in it, if it goes on as it begins; those of runs that are cached count little. */
export function estimateProbe(
  { part, directory }: ListOutline,
  keys: Keys,
  { from, upTo }: KeyRange,
): number {
  const { heads, others, rest } = part;
  if (rest === undefined) return 0;
  const first = Math.min(...[heads, others].flatMap(({ keys: [key] }) => key ?? []));
  const count = countKeys(part);
  const between = rest.from > first ? (count / (rest.from - first)) * (upTo - from) : count;
  const isKnown = directory !== undefined && upTo <= directory.upTo;
  return Math.min(between, keys.length * maxRunKeys) * (isKnown ? cachedCost : 1);
}

const cachedCost = 0.1;
