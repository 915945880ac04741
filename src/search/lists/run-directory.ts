import { bigintArray } from '../../storage/binary-arrays.ts';
import { type Directory, type IndexReader, readForCache } from '../cache/caches.ts';
import { headOf } from '../documents/keys.ts';
import { joinRows } from './columns.ts';
import type { Keys } from './key-sets.ts';
import {
  type KeyList,
  type ListRest,
  lowerBound,
  readRuns,
  runBytes,
  runHead,
  sortPostings,
  type WholeList,
} from './posting-list.ts';
import { sliceBetween } from './read-parts.ts';
import { divideHeads } from './read-whole.ts';
import { type RunKey, runKeyArrays } from './runs.ts';

// Reads long posting lists where some keys are: first which runs a list has (its directory), then those in which the keys may stand, decoded, through a cache of runs. A run is never changed and
// its number never given again, so that a cached run needs no invalidation.

/** Finds the runs of lists in which some keys may stand. */
export interface DirectoryReader {
  has(list: number): boolean;
  /** By the lists' numbers; runs may overlap. The keys are in order, and the directories reach up to the last one. */
  read(lists: readonly number[], keys: Keys): Promise<Map<number, WholeList[]>>;
}

export async function openDirectories(
  reader: IndexReader,
  named: readonly number[],
  upTo: number,
): Promise<DirectoryReader> {
  // Two words of a text may stand for the same one.
  const lists = [...new Set(named)];
  let directories = await findDirectories(reader, lists, { upTo });
  return {
    has: (list) => directories.has(list),
    async read(someLists, keys) {
      for (;;) {
        const byList = new Map(someLists.map((list): [number, WholeList[]] => [list, []]));
        const wanted = Array.from(byList.keys()).flatMap(
          (list) => directories.get(list)?.runs.filter((run) => mayHold(run, keys)) ?? [],
        );
        const found = await findRuns(reader, wanted);
        for (const [index, run] of found?.entries() ?? []) byList.get(wanted[index]?.list ?? 0)?.push(run);
        if (found) return byList;
        forgetCompacted(reader, lists);
        directories = await findDirectories(reader, lists, { upTo });
      }
    },
  };
}

/** Whether one of the keys may stand in a run, or its head. */
function mayHold({ first, last }: RunKey, keys: Keys): boolean {
  const next = keys[lowerBound(keys, first)];
  return next !== undefined && headOf(next) <= last;
}

/** Some runs are no longer there: they were compacted since the directory was read. */
function forgetCompacted({ caches }: IndexReader, lists: readonly number[]): void {
  for (const list of lists) caches.outlines.forget(list);
}

/** What follows of a list, as far as its first so many runs tell. */
export async function readOnInRuns(
  reader: IndexReader,
  { list, from }: ListRest,
  maxRuns: number,
): Promise<WholeList & { rest?: ListRest }> {
  for (let limit = maxRuns; ; ) {
    const { runs = [] } = (await findDirectories(reader, [list], { maxRuns: limit })).get(list) ?? {};
    const end = runs[limit]?.first ?? Number.POSITIVE_INFINITY;
    const found =
      end > from &&
      (await findRuns(
        reader,
        runs.slice(0, limit).filter(({ last }) => last >= from),
      ));
    if (found) {
      const join = (lists: readonly KeyList[]) => sliceBetween(sortPostings(joinRows(lists)), from, end);
      return {
        heads: join(found.map(({ heads }) => heads)),
        others: join(found.map(({ others }) => others)),
        ...(end < Number.POSITIVE_INFINITY && { rest: { list, from: end } }),
      };
    }
    if (found === undefined) forgetCompacted(reader, [list]);
    // So many runs begin before this part that none of those that begin in it was read.
    else limit *= growth;
  }
}

const growth = 4;

/** How far directories are needed: up to a key, or so many runs. */
interface Reach {
  upTo?: number;
  maxRuns?: number;
}

/** By the lists' numbers, through the cache of outlines. What is read reaches a little further than it must, for the next search. */
async function findDirectories(
  reader: IndexReader,
  lists: readonly number[],
  { upTo = Number.POSITIVE_INFINITY, maxRuns = Number.MAX_SAFE_INTEGER - 1 }: Reach,
): Promise<Map<number, Directory>> {
  const { outlines } = reader.caches;
  const directories = new Map<number, Directory>();
  for (const list of lists) {
    const known = outlines.find(list)?.directory;
    if (known && (upTo <= known.upTo || maxRuns < known.runs.length)) directories.set(list, known);
  }
  const unknown = lists.filter((list) => !directories.has(list));
  if (unknown.length === 0) return directories;
  const reach = { upTo: upTo * further, maxRuns };
  const { found, mayKeep } = await readForCache(reader, () => readDirectories(reader, unknown, reach));
  for (const [list, directory] of found) {
    directories.set(list, directory);
    const outline = outlines.find(list);
    if (mayKeep && outline) outlines.keep(list, { ...outline, directory });
  }
  return directories;
}

const further = 1.25;

async function readDirectories(
  reader: IndexReader,
  lists: readonly number[],
  { upTo, maxRuns }: Required<Reach>,
): Promise<Map<number, Directory>> {
  const { rows } = await reader.query<{ list: number; runs: Buffer }>(
    `select list, (
       select coalesce(string_agg(float8send(first) || float8send(last) || int8send(id), ''), '') from (
         select first, last, id from discovery.run where run.list = wanted.list and first <= $2 order by first limit $3
       ) as runs
     ) as runs
     from unnest($1::bigint[]) as wanted (list)`,
    [bigintArray(lists), upTo, maxRuns + 1],
    { prepared: true },
  );
  return new Map(
    rows.map(({ list, runs: bytes }) => {
      const runs = decodeDirectory(list, bytes);
      // Others may begin where the last one does.
      const last = runs[maxRuns];
      return [list, { runs, upTo: last ? last.first - 1 : upTo }];
    }),
  );
}

function decodeDirectory(list: number, bytes: Buffer): RunKey[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / entryBytes }, (_, index): RunKey => {
    const at = index * entryBytes;
    const id = view.getInt32(at + 16) * 2 ** 32 + view.getUint32(at + 20);
    return { list, first: view.getFloat64(at), last: view.getFloat64(at + 8), id };
  });
}

const entryBytes = 24;

/** Through the cache; undefined where one of them is no longer there. */
async function findRuns(reader: IndexReader, wanted: readonly RunKey[]): Promise<WholeList[] | undefined> {
  const { runs: cache } = reader.caches;
  const found = wanted.map(({ id }) => cache.find(id));
  const read = await readMissing(
    reader,
    wanted.filter((_, index) => found[index] === undefined),
  );
  for (const [id, postings] of read) cache.keep(id, postings);
  const all = read.size > 0 ? wanted.map(({ id }, index) => found[index] ?? read.get(id)) : found;
  return all.every((each) => each !== undefined) ? all : undefined;
}

async function readMissing(reader: IndexReader, runs: readonly RunKey[]): Promise<Map<number, WholeList>> {
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
  const read = new Map<number, WholeList>();
  const all = rows[0]?.runs ?? Buffer.of();
  const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
  for (let at = 0; at < all.length; ) {
    const id = view.getInt32(at) * 2 ** 32 + view.getUint32(at + 4);
    const start = at + 8;
    at = start + runHead.bytes + view.getUint16(start + runHead.length);
    read.set(id, divideHeads(readRuns(all.subarray(start, at)).list));
  }
  return read;
}
