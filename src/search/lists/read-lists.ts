import { bigintArray } from '../../storage/binary-arrays.ts';
import { type Directory, type IndexReader, isCached, type Run, readForCache } from '../cache/caches.ts';
import { firstNumbers, headOf } from '../keys.ts';
import { gallop, type Keys, keysOf, lowerBound, noKeys } from '../set/sorted.ts';
import { decodeRun } from './codec.ts';
import { firstSharedList, sharedLists } from './list-numbers.ts';
import { type RunKey, runKeyArrays } from './runs.ts';

// Reads lists through two caches: directories (the runs that a list has) and decoded runs. Runs of long lists are read when needed.

/** Entries of a short list: all its runs come with its directory. Until it is compacted, it has one run per transaction. */
const shortList = 1_280;
/** Runs of a longer list that come with its directory. More would be a waste, because usually others are needed. */
const runsAtFirst = 4;
/** Bytes per run in a directory. */
const entryBytes = 26;

/** By list number. The directory of an empty list has no runs. */
export async function openLists(reader: IndexReader, lists: readonly number[]) {
  const { lists: cache } = reader.caches;
  const found = new Map<number, Directory>();
  for (const list of isCached(reader) ? lists : []) {
    const known = cache.find(list);
    if (known) found.set(list, known);
  }
  const unknown = [...new Set(lists)].filter((list) => !found.has(list));
  if (unknown.length === 0) return found;
  const { found: read, mayKeep } = await readForCache(reader, () => readDirectories(reader, unknown));
  for (const directory of read) {
    found.set(directory.list, directory);
    if (mayKeep) cache.keep(directory.list, directory);
  }
  return found;
}

async function readDirectories(reader: IndexReader, lists: readonly number[]): Promise<Directory[]> {
  const run = `${reader.index}.run`;
  type Row = { list: number; directory: Buffer } & Record<'runs' | 'shared', Buffer | null>;
  const rows = await reader.rows<Row>(
    `select wanted.list, directory, (
       select string_agg(int8send(id) || int4send(length(bytes)) || bytes, '') from (
         select id, bytes from ${run} where run.list = wanted.list order by first, last, id
         limit case when entries > ${shortList} then ${runsAtFirst} end
       ) as runs
     ) as runs,
     case when wanted.list >= 0 then (
       select string_agg(int8send(id) || int4send(length(bytes)) || bytes, '') from ${run} as shared
       where shared.list = ${firstSharedList} - wanted.list % ${sharedLists} and shared.first <= wanted.list and shared.last >= wanted.list
     ) end as shared
     from unnest($1::bigint[]) as wanted (list) cross join lateral (
       select coalesce(string_agg(float8send(first) || float8send(last) || int8send(id) || int2send(count), ''), '') as directory, sum(count) as entries
       from (select first, last, id, count from ${run} where run.list = wanted.list order by first, last, id) as runs
     ) as outline`,
    [bigintArray(lists)],
    { prepared: true },
  );
  return rows.map(({ list, directory, runs, shared }) => {
    for (const [id, run] of decodeNumbered(runs)) reader.caches.runs.keep(id, run);
    return decodeDirectory(list, directory, findShared(list, shared));
  });
}

function decodeDirectory(list: number, bytes: Buffer, shared: Keys): Directory {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = bytes.length / entryBytes;
  const [first, last, id] = [new Float64Array(length), new Float64Array(length), new Float64Array(length)];
  const counts = new Int16Array(length);
  for (let index = 0, at = 0; index < length; index++, at += entryBytes) {
    first[index] = view.getFloat64(at);
    last[index] = view.getFloat64(at + 8);
    id[index] = readInteger(view, at + 16);
    counts[index] = view.getInt16(at + 24);
  }
  const count = counts.reduce((sum, each) => sum + each, shared.length);
  return { list, first, last, id, counts, shared, count };
}

/** A run of a directory. */
export function runAt({ list, first, last, id }: Directory, index: number): RunKey {
  return { list, first: first[index] as number, last: last[index] as number, id: id[index] as number };
}

/** The entries of one list in a shared one. */
function findShared(list: number, bytes: Buffer | null): Keys {
  const found: number[] = [];
  for (const [, { keys, marks }] of decodeNumbered(bytes))
    for (let index = lowerBound(keys, list); keys[index] === list; index++)
      found.push(marks[index] as number);
  return keysOf(found);
}

/** Consecutive runs, each after its number and length. */
function* decodeNumbered(bytes: Buffer | null): Generator<[id: number, run: Run]> {
  if (bytes === null) return;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; ) {
    const start = at + 12;
    const end = start + view.getInt32(at + 8);
    yield [readInteger(view, at), decodeRun(bytes.subarray(start, end))];
    at = end;
  }
}

function readInteger(view: DataView, at: number): number {
  return view.getInt32(at) * 2 ** 32 + view.getUint32(at + 4);
}

/** Runs in the order of `wanted`; undefined if compaction has replaced one of them. Then the directories are forgotten. */
export async function loadRuns(reader: IndexReader, wanted: readonly RunKey[]) {
  const { runs: cache, lists } = reader.caches;
  const found = wanted.map(({ id }) => cache.find(id));
  const missing = wanted.filter((_, index) => found[index] === undefined);
  if (missing.length > 0) {
    const read = await readRuns(reader, missing);
    for (const [id, run] of read) cache.keep(id, run);
    for (const [index, { id }] of wanted.entries()) found[index] ??= read.get(id);
  }
  if (found.every((run) => run !== undefined)) return found;
  for (const { list } of wanted) lists.forget(list);
  return undefined;
}

async function readRuns(reader: IndexReader, runs: readonly RunKey[]): Promise<Map<number, Run>> {
  const bytes = await reader.value<Buffer | null>(
    `select string_agg(int8send(wanted.id) || int4send(length(bytes)) || bytes, '')
     from unnest($1::bigint[], $2::float8[], $3::float8[], $4::bigint[]) as wanted (list, first, last, id)
     cross join lateral (
       select bytes from ${reader.index}.run
       where run.list = wanted.list and run.first = wanted.first and run.last = wanted.last and run.id = wanted.id offset 0
     ) as run`,
    runKeyArrays(runs),
    { prepared: true },
  );
  return new Map(decodeNumbered(bytes));
}

/** The runs of lists that may contain one of some keys, or an offer of one of the catalogs. Reads a list again if it is compacted meanwhile. */
export async function readNear(reader: IndexReader, lists: readonly number[], keys: Keys, heads = noKeys) {
  for (;;) {
    const directories = await openLists(reader, lists);
    const wanted = [...directories.values()].flatMap((directory) => findNear(directory, keys, heads));
    const runs = await loadRuns(reader, wanted);
    if (runs === undefined) continue;
    const near = new Map<number, Run[]>(
      Array.from(directories, ([list, { shared }]) => [list, shared.length > 0 ? [unmarked(shared)] : []]),
    );
    for (const [index, { list }] of wanted.entries()) near.get(list)?.push(runs[index] as Run);
    return near;
  }
}

/** Scans runs, which are in the order of their first keys, and keys in parallel. */
function findNear(directory: Directory, keys: Keys, heads: Keys): RunKey[] {
  const near: RunKey[] = [];
  let [at, catalog] = [0, 0];
  for (let index = 0; index < directory.first.length; index++) {
    const [first, last] = [directory.first[index] as number, directory.last[index] as number];
    const head = headOf(first);
    if ((keys[at] as number) < first) at = gallop(keys, first, at);
    if ((heads[catalog] as number) < head) catalog = gallop(heads, head, catalog);
    if (at >= keys.length && catalog >= heads.length) break;
    if ((keys[at] as number) <= last || (heads[catalog] as number) + firstNumbers.offer <= last)
      near.push(runAt(directory, index));
  }
  return near;
}

export function unmarked(keys: Keys): Run {
  return { keys, marks: new Uint8Array(keys.length) };
}

/** Selects the keys that have a passing mark in the runs. */
export function selectIn(runs: readonly Run[], keys: Keys, passes?: (mark: number) => boolean): Keys {
  const isFound = new Uint8Array(keys.length);
  for (const { keys: own, marks } of runs) {
    const last = own.at(-1) ?? Number.NEGATIVE_INFINITY;
    for (let at = 0, index = lowerBound(keys, own[0] ?? 0); index < keys.length; index++) {
      const key = keys[index] as number;
      if (key > last) break;
      if ((own[at] as number) < key) at = gallop(own, key, at);
      for (; own[at] === key; at++)
        if (passes === undefined || passes(marks[at] as number)) isFound[index] = 1;
    }
  }
  return keys.filter((_, index) => isFound[index] === 1);
}
