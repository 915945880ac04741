import { bigintArray } from '../../storage/binary-arrays.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import { headOf } from '../documents/keys.ts';
import { countLists } from './count-lists.ts';
import type { Keys } from './key-sets.ts';
import {
  countRuns,
  lowerBound,
  maxRunKeys,
  readFirstKey,
  readRuns,
  runBytes,
  runHead,
  sortPostings,
} from './posting-list.ts';
import { type KeyRange, type ListPart, type ListRest, sliceBetween } from './read-parts.ts';
import { type RunKey, runKeyArrays } from './runs.ts';

// Reads posting lists as they are stored, to be probed for keys (probe-runs.ts) rather than decoded.

/** The beginning of a list: the bytes of its first runs, in the order of their first keys. */
export interface PackedPart {
  runs: Uint8Array;
  /** How many keys they have. */
  count: number;
  /** Where the next part begins; then the last of the runs, which holds nothing before that, belongs to the next part. */
  rest?: ListRest;
  decode(): ListPart;
}

/** What is cached of a list. It is invalidated when the list has changed; that runs of it were merged changes nothing. */
export interface ListOutline {
  part: PackedPart;
  /** How many keys it has, about. */
  count: number;
  /** Its runs that begin up to a key, in the order of their first keys. */
  directory?: { upTo: number; runs: readonly RunKey[] };
}

/** A run has up to 320 keys. Of a longer list no more than its first run is read at first: mostly other words are rarer, and it is looked into where their candidates are. */
const maxRuns = 8;

/** The outlines of lists, by their numbers: each with all of the list, or with the first run of a long one and an estimate of its length. */
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
    const outline = { part, count: found.counts.get(list) ?? part.count };
    known.set(list, outline);
    if (mayKeep) outlines.keep(list, outline);
  }
  return known;
}

/** All of a list with up to so many runs, and one run of a longer one. */
async function readBeginnings(
  reader: IndexReader,
  lists: readonly number[],
): Promise<Map<number, PackedPart>> {
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
  return new Map(rows.map(({ list, is_long, bytes }) => [list, packPart(list, bytes, is_long)]));
}

/** Of a long list the second run tells where the first part ends. */
function packPart(list: number, bytes: Buffer, isLong: boolean): PackedPart {
  const { count, firsts } = countRuns(bytes);
  const end = isLong ? firsts[1] : undefined;
  const rest = end === undefined ? undefined : { list, from: end };
  const decode = () => {
    const all = sliceBetween(sortPostings(readRuns(bytes).list), 0, end ?? Number.POSITIVE_INFINITY);
    return rest ? { ...all, rest } : all;
  };
  return { runs: bytes, count, decode, ...(rest && { rest }) };
}

/** How many postings of a list have to be read to look for some keys in it, if it goes on as it begins; those of runs that are cached count little. */
export function estimateProbe(
  { part, directory }: ListOutline,
  keys: Keys,
  { from, upTo }: KeyRange,
): number {
  const { runs, count, rest } = part;
  if (rest === undefined) return 0;
  const first = readFirstKey(new DataView(runs.buffer, runs.byteOffset), 0);
  const between = rest.from > first ? (count / (rest.from - first)) * (upTo - from) : count;
  const isKnown = directory !== undefined && upTo <= directory.upTo;
  return Math.min(between, keys.length * maxRunKeys) * (isKnown ? cachedCost : 1);
}

const cachedCost = 0.1;

/** Finds the runs of lists in which some keys may stand. */
export interface RunDirectory {
  lists: readonly number[];
  /** By the lists' numbers. The keys, in order, lie within the range of the directory. */
  read(lists: readonly number[], keys: Keys): Promise<Map<number, Uint8Array[]>>;
}

/**
 * Which runs of some lists lie in a range; they are read through a cache of runs. A run is never changed and its number never given again, so that a cached one needs no invalidation: which
 * runs a list has is asked each time.
 */
export async function openDirectory(
  reader: IndexReader,
  named: readonly number[],
  range: KeyRange,
): Promise<RunDirectory> {
  // Two words of a text may stand for the same one.
  const lists = [...new Set(named)];
  let directory = await findDirectory(reader, lists, range);
  const { runs: cache } = reader.caches;
  async function findBytes(wanted: readonly RunKey[]): Promise<Map<number, Uint8Array> | undefined> {
    const held = new Map<number, Uint8Array>();
    const missing: RunKey[] = [];
    for (const run of wanted) {
      const bytes = cache.find(run.id);
      if (bytes) held.set(run.id, bytes);
      else missing.push(run);
    }
    for (const [id, bytes] of await readMissing(reader, missing)) {
      held.set(id, bytes);
      cache.keep(id, bytes);
    }
    return held.size === wanted.length ? held : undefined;
  }
  return {
    lists,
    async read(someLists, keys) {
      for (;;) {
        const wanted = directory.filter((run) => someLists.includes(run.list) && mayHold(run, keys));
        const held = await findBytes(wanted);
        if (held) {
          const found = new Map<number, Uint8Array[]>(someLists.map((list) => [list, []]));
          for (const { list, id } of wanted) found.get(list)?.push(held.get(id) ?? new Uint8Array());
          return found;
        }
        // Some were compacted since the directory was read.
        for (const list of lists) reader.caches.outlines.forget(list);
        directory = await readDirectory(reader, lists, range);
      }
    },
  };
}

/** Whether one of the keys may stand in a run, or its head. */
function mayHold({ first, last }: RunKey, keys: Keys): boolean {
  const next = keys[lowerBound(keys, first)];
  return next !== undefined && headOf(next) <= last;
}

/** Through the cache of outlines. What is read reaches a little further than it must, for the next search. */
async function findDirectory(
  reader: IndexReader,
  lists: readonly number[],
  { upTo }: KeyRange,
): Promise<RunKey[]> {
  const { outlines } = reader.caches;
  const runs: RunKey[] = [];
  const unknown: number[] = [];
  for (const list of lists) {
    const directory = outlines.find(list)?.directory;
    if (directory && upTo <= directory.upTo) runs.push(...directory.runs);
    else unknown.push(list);
  }
  if (unknown.length === 0) return runs;
  const range = { from: 0, upTo: upTo * reach };
  const { found, mayKeep } = await readForCache(reader, () => readDirectory(reader, unknown, range));
  for (const list of unknown) {
    const theirs = found.filter((run) => run.list === list);
    runs.push(...theirs);
    const outline = outlines.find(list);
    if (mayKeep && outline)
      outlines.keep(list, { ...outline, directory: { upTo: range.upTo, runs: theirs } });
  }
  return runs;
}

const reach = 1.25;

/** In the order of lists, and of each in that of its first keys. */
async function readDirectory(
  reader: IndexReader,
  lists: readonly number[],
  { from, upTo }: KeyRange,
): Promise<RunKey[]> {
  const { rows } = await reader.query<{ list: number; runs: Buffer }>(
    `select list, (
       select coalesce(string_agg(float8send(first) || float8send(last) || int8send(id), ''), '') from (
         select first, last, id from discovery.run
         where run.list = wanted.list and last >= $2 and first <= $3 order by first
       ) as runs
     ) as runs
     from unnest($1::bigint[]) as wanted (list)`,
    [bigintArray(lists), from, upTo],
    { prepared: true },
  );
  return rows.flatMap(({ list, runs }) => {
    const view = new DataView(runs.buffer, runs.byteOffset, runs.byteLength);
    return Array.from({ length: runs.length / entryBytes }, (_, index): RunKey => {
      const at = index * entryBytes;
      const id = view.getInt32(at + 16) * 2 ** 32 + view.getUint32(at + 20);
      return { list, first: view.getFloat64(at), last: view.getFloat64(at + 8), id };
    });
  });
}

const entryBytes = 24;

/** By the numbers of runs. */
async function readMissing(reader: IndexReader, runs: readonly RunKey[]): Promise<Map<number, Uint8Array>> {
  if (runs.length === 0) return new Map();
  const { rows } = await reader.query<{ runs: Buffer | null }>(
    `select string_agg(int8send(wanted.id) || bytes, '') as runs
     from unnest($1::bigint[], $2::float8[], $3::float8[], $4::bigint[]) as wanted (list, first, last, id)
     cross join lateral (
       select ${runBytes} as bytes from discovery.run
       where run.list = wanted.list and run.first = wanted.first and run.last = wanted.last and run.id = wanted.id offset 0
     ) as run`,
    runKeyArrays(runs),
    { prepared: true },
  );
  const read = new Map<number, Uint8Array>();
  const all = rows[0]?.runs ?? Buffer.of();
  const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
  for (let at = 0; at < all.length; ) {
    const id = view.getInt32(at) * 2 ** 32 + view.getUint32(at + 4);
    const start = at + 8;
    at = start + runHead.bytes + view.getUint16(start + runHead.length);
    // A copy: otherwise a cached run would keep all of them in memory.
    read.set(id, new Uint8Array(all.subarray(start, at)));
  }
  return read;
}
