import { bigintArray } from '../../storage/binary-arrays.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import { isHead } from '../documents/keys.ts';
import { selectRows } from './columns.ts';
import { type NumberList, readNumberRuns } from './number-list.ts';
import { emptyList, type KeyList, readRuns, runBytes, sortPostings } from './posting-list.ts';

// Reads whole posting lists, as most searches want them, through a cache (cache/caches.ts).

/** A list of keys, divided: catalogs' own keys, which stand for all their resources, and all others. */
export interface WholeList {
  heads: KeyList;
  others: KeyList;
}

export const emptyWhole: WholeList = { heads: emptyList, others: emptyList };

/** Longer lists are read in parts (read-parts.ts). */
export const maxRuns = 6_500;
const maxNumberRuns = 12_000;

/** Lists by their numbers; those that are too long are left out. */
export function readWholeLists(
  reader: IndexReader,
  lists: readonly number[],
): Promise<Map<number, WholeList>> {
  return readWhole(reader, lists, {
    bytes: runBytes,
    maxRuns,
    decode(bytes) {
      const { list } = readRuns(bytes);
      return { list: divideHeads(sortPostings(list)), keys: list.keys.length };
    },
    bytesOfKey: 9,
  });
}

/** Likewise lists of numbers. */
export function readWholeNumbers(
  reader: IndexReader,
  lists: readonly number[],
): Promise<Map<number, NumberList>> {
  return readWhole(reader, lists, {
    bytes: 'bytes',
    maxRuns: maxNumberRuns,
    decode(bytes) {
      const { list } = readNumberRuns(bytes);
      return { list, keys: list.keys.length };
    },
    bytesOfKey: 16,
  });
}

export function countKeys({ heads, others }: WholeList): number {
  return heads.keys.length + others.keys.length;
}

export function divideHeads(list: KeyList): WholeList {
  const { keys } = list;
  if (!keys.some(isHead)) return { heads: emptyList, others: list };
  return {
    heads: selectRows(list, (index) => isHead(keys[index] as number)),
    others: selectRows(list, (index) => !isHead(keys[index] as number)),
  };
}

interface Form<T> {
  /** The bytes of a run, in SQL. */
  bytes: string;
  maxRuns: number;
  decode(bytes: Buffer): { list: T; keys: number };
  bytesOfKey: number;
}

async function readWhole<T extends object>(
  reader: IndexReader,
  lists: readonly number[],
  form: Form<T>,
): Promise<Map<number, T>> {
  const found = new Map<number, T>();
  const unknown: number[] = [];
  for (const list of lists) {
    const kept = reader.caches.lists.find(list) as { list: T | undefined } | undefined;
    if (kept?.list !== undefined) found.set(list, kept.list);
    if (kept === undefined) unknown.push(list);
  }
  if (unknown.length === 0) return found;
  const { found: rows, mayKeep } = await readForCache(reader, () => readRows(reader, unknown, form));
  for (const { list, bytes } of rows) {
    const decoded = bytes ? form.decode(bytes) : undefined;
    if (decoded) found.set(list, decoded.list);
    // That a list is too long is cached, too.
    const cached = { list: decoded?.list, bytes: (decoded?.keys ?? 0) * form.bytesOfKey };
    if (mayKeep) reader.caches.lists.keep(list, cached);
  }
  return found;
}

interface WholeRow {
  list: number;
  /** Null where there are too many runs. */
  bytes: Buffer | null;
}

async function readRows<T>(
  reader: IndexReader,
  lists: readonly number[],
  { bytes, maxRuns: limit }: Form<T>,
): Promise<WholeRow[]> {
  const { rows } = await reader.query<WholeRow>(
    `select wanted.list, case when runs <= $2 then (
       select coalesce(string_agg(bytes, ''), '') from (
         select ${bytes} as bytes from discovery.run where run.list = wanted.list order by first, last, id
       ) as read
     ) end as bytes
     from unnest($1::bigint[]) as wanted (list)
     cross join lateral (
       select count(*) as runs from (select from discovery.run where run.list = wanted.list limit $2 + 1) as seen
     ) as now`,
    [bigintArray(lists), limit],
    { prepared: true },
  );
  return rows;
}
