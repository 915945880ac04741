import { bigintArray } from '../../storage/binary-arrays.ts';
import { type FirstPart, type IndexReader, type ListOutline, readForCache } from '../cache/caches.ts';
import { countLists } from './count-lists.ts';
import type { Keys } from './key-sets.ts';
import { maxRunKeys, readRuns, runBytes, sortPostings, type WholeList } from './posting-list.ts';
import { type KeyRange, sliceBetween } from './read-parts.ts';
import { countKeys, divideHeads, emptyWhole, findCached, keepList, maxRuns } from './read-whole.ts';

// Outlines of posting lists: what a search knows of each word of its text before it decides which lists to read further.

/** Of a list with more keys, or in more pieces, no more than its first run is read at first: mostly other words are rarer, and it is looked into where their candidates are. */
const short = { keys: 8 * maxRunKeys, runs: 128 };

/** What is read of the words of a text, by the lists' numbers. */
interface WordLists {
  outlines: Map<number, ListOutline>;
  /** Whole; those that are too long are left out. */
  ofOffers: Map<number, WholeList>;
}

/** The outlines of lists of words, and lists of offers: in one statement, as a word with many variants has hundreds of lists, most of them empty. */
export async function readWordLists(
  reader: IndexReader,
  words: readonly number[],
  ofOffers: readonly number[],
): Promise<WordLists> {
  const { outlines: cache } = reader.caches;
  const outlines = new Map<number, ListOutline>();
  for (const list of words) {
    const outline = cache.find(list);
    if (outline) outlines.set(list, outline);
  }
  const unknown = words.filter((list) => !outlines.has(list));
  const offers = findCached(reader, ofOffers);
  if (unknown.length + offers.unknown.length === 0) return { outlines, ofOffers: offers.known };
  const { found, mayKeep } = await readForCache(reader, async () => {
    const parts = await readBeginnings(reader, [
      ...unknown.map((list) => ({ list, ...short })),
      ...offers.unknown.map((list) => ({ list, ...whole })),
    ]);
    const long = unknown.filter((list) => parts.get(list)?.rest);
    return { parts, counts: await countLists(reader, long) };
  });
  for (const list of unknown) {
    const part = found.parts.get(list) ?? emptyWhole;
    const outline = { part, count: found.counts.get(list) ?? countKeys(part) };
    outlines.set(list, outline);
    if (mayKeep) cache.keep(list, outline);
  }
  for (const list of offers.unknown) {
    const { rest, ...all }: FirstPart = found.parts.get(list) ?? emptyWhole;
    if (rest === undefined) offers.known.set(list, all);
    if (mayKeep) keepList(reader, list, rest ? undefined : all);
  }
  return { outlines, ofOffers: offers.known };
}

const whole = { keys: Number.MAX_SAFE_INTEGER, runs: maxRuns };

interface WantedList {
  list: number;
  /** A list that has more is long. */
  keys: number;
  runs: number;
}

/** All of short lists, and one run of long ones, by the lists' numbers. Those that are empty are left out. */
async function readBeginnings(
  reader: IndexReader,
  wanted: readonly WantedList[],
): Promise<Map<number, FirstPart>> {
  const runsOf = (column: string) =>
    `select ${column} from discovery.run where run.list = wanted.list order by first`;
  const { rows } = await reader.query<{ list: number; is_long: boolean; bytes: Buffer }>(
    `select wanted.list, is_long, bytes from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as wanted (list, keys, runs)
     cross join lateral (
       select sum(count) > keys or count(*) > runs as is_long from (${runsOf('count')} limit runs + 1) as counted having count(*) > 0
     ) as counted
     cross join lateral (
       select string_agg(bytes, '') as bytes from (${runsOf(`${runBytes} as bytes`)} limit case when is_long then 2 else runs end) as first
     ) as first`,
    [
      bigintArray(wanted.map(({ list }) => list)),
      bigintArray(wanted.map(({ keys }) => keys)),
      bigintArray(wanted.map(({ runs }) => runs)),
    ],
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
