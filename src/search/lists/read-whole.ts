import { bigintArray } from '../../storage/binary-arrays.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import { isHead } from '../documents/keys.ts';
import { selectRows } from './columns.ts';
import { emptyList, type KeyList, readRuns, runBytes, type WholeList } from './posting-list.ts';
import { joinShared, sharedBytes } from './shared-runs.ts';

// Reads whole posting lists, as most searches want them, through a cache (cache/caches.ts).

export const emptyWhole: WholeList = { heads: emptyList, others: emptyList };

/** Longer lists are read in parts (read-parts.ts). */
export const maxRuns = 6_500;

/** Lists by their numbers; those that are too long are left out. */
export async function readWholeLists(
  reader: IndexReader,
  lists: readonly number[],
): Promise<Map<number, WholeList>> {
  const { known, unknown } = findCached(reader, lists);
  if (unknown.length === 0) return known;
  const { found: rows, mayKeep } = await readForCache(reader, () => readRows(reader, unknown));
  for (const { list, bytes, shared } of rows) {
    const decoded = bytes && joinShared(list, readRuns(bytes).list, shared);
    const whole = decoded ? divideHeads(decoded) : undefined;
    if (whole) known.set(list, whole);
    if (mayKeep) keepList(reader, list, whole);
  }
  return known;
}

/** What the cache has of lists, and those of which it knows nothing. */
export function findCached(
  { caches }: IndexReader,
  lists: readonly number[],
): { known: Map<number, WholeList>; unknown: number[] } {
  const known = new Map<number, WholeList>();
  const unknown: number[] = [];
  for (const list of lists) {
    const cached = caches.lists.find(list);
    if (cached?.list) known.set(list, cached.list);
    if (cached === undefined) unknown.push(list);
  }
  return { known, unknown };
}

/** Undefined: that a list is too long is cached, too. */
export function keepList({ caches }: IndexReader, list: number, whole: WholeList | undefined): void {
  caches.lists.keep(list, { list: whole, bytes: whole ? countKeys(whole) * bytesOfKey : 0 });
}

const bytesOfKey = 9;

export function countKeys({ heads, others }: WholeList): number {
  return heads.keys.length + others.keys.length;
}

export function divideHeads(list: KeyList): WholeList {
  const { keys } = list;
  let index = 0;
  while (index < keys.length && !isHead(keys[index] as number)) index++;
  if (index === keys.length) return { heads: emptyList, others: list };
  return {
    heads: selectRows(list, (row) => isHead(keys[row] as number)),
    others: selectRows(list, (row) => !isHead(keys[row] as number)),
  };
}

interface WholeRow {
  list: number;
  /** Null where there are too many runs. */
  bytes: Buffer | null;
  /** Of shared runs. */
  shared: Buffer | null;
}

async function readRows(reader: IndexReader, lists: readonly number[]): Promise<WholeRow[]> {
  const { rows } = await reader.query<WholeRow>(
    `select wanted.list, (
       select case when count(*) <= ${maxRuns} then coalesce(string_agg(bytes, ''), '') end from (
         select ${runBytes} as bytes from discovery.run where run.list = wanted.list order by first, last, id limit ${maxRuns + 1}
       ) as read
     ) as bytes, ${sharedBytes('wanted.list')} as shared
     from unnest($1::bigint[]) as wanted (list)`,
    [bigintArray(lists)],
    { prepared: true },
  );
  return rows;
}
