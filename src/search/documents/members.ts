import { bigintArray } from '../../storage/binary-arrays.ts';
import type { IndexReader } from '../cache/caches.ts';
import { maxCounted } from '../cache/catalog-table.ts';
import { type Keys, keysOf, union } from '../lists/key-sets.ts';
import { readRanges } from '../lists/read-parts.ts';
import { everyResource } from '../lists/runs.ts';
import { catalogKeyOf, firstNumbers, isHead, keyOf, keysBetween, lastNumbers } from './keys.ts';
import { readCatalogs } from './load-catalogs.ts';

// Replaces the keys of catalogs by those of their resources. Mostly how many there are tells which (cache/catalog-table.ts).

/** By the catalogs' keys. */
type Members = Map<number, readonly number[]>;
type Counts = Map<number, number | undefined>;

/** The first so many resources, in the order in which they are named, none twice: a catalog's own key stands for all its resources. */
export async function expandMembers<K extends ArrayLike<number>>(
  reader: IndexReader,
  keys: K,
  atMost = Number.MAX_SAFE_INTEGER,
): Promise<K | number[]> {
  if (!hasCatalogs(keys)) return keysBetween(keys, 0, atMost);
  const counts = await findCounts(reader, keys);
  return replaceHeads(keys, counts, await findMembers(reader, counts, atMost), atMost);
}

/** All resources of catalogs, which are given by their own keys, in order. */
export async function listMembers(reader: IndexReader, heads: Keys): Promise<Keys> {
  const { catalogs } = reader.caches;
  const unknown = heads.filter((head) => catalogs.find(catalogKeyOf(head)) === undefined);
  const read = await findCounts(reader, unknown);
  const counts = new Uint16Array(heads.length);
  const others: { many: number[]; withGaps: number[] } = { many: [], withGaps: [] };
  let total = 0;
  for (let index = 0; index < heads.length; index++) {
    const catalogKey = catalogKeyOf(heads[index] as number);
    const count = read.has(catalogKey) ? read.get(catalogKey) : catalogs.findCount(catalogKey);
    if (count === undefined) others.withGaps.push(catalogKey);
    else if (count > maxCounted) others.many.push(catalogKey);
    else counts[index] = count;
    total += counts[index] as number;
  }
  const found = new Float64Array(total);
  let at = 0;
  for (let index = 0; index < heads.length; index++)
    for (let number = 1; number <= (counts[index] as number); number++)
      found[at++] = (heads[index] as number) + number;
  const parts: Keys[] = [found];
  for (const catalogKey of others.many) parts.push(await readLargeCatalog(reader, catalogKey));
  if (others.withGaps.length > 0)
    for (const members of (await readMembers(reader, others.withGaps)).values()) parts.push(keysOf(members));
  return union(parts);
}

/** As bytes of a posting list, not row by row. */
async function readLargeCatalog(reader: IndexReader, catalogKey: number): Promise<Keys> {
  const range = {
    from: keyOf(catalogKey, firstNumbers.resource),
    upTo: keyOf(catalogKey, lastNumbers.resource),
  };
  return (await readRanges(reader, [everyResource], range)).get(everyResource)?.keys ?? new Float64Array();
}

/** How many resources the catalogs have that stand among these keys (cache/catalog-table.ts). */
async function findCounts(reader: IndexReader, keys: ArrayLike<number>): Promise<Counts> {
  const { catalogs } = reader.caches;
  const counts: Counts = new Map();
  const unknown: number[] = [];
  for (let index = 0; index < keys.length; index++) {
    if (!isHead(keys[index] as number)) continue;
    const catalogKey = catalogKeyOf(keys[index] as number);
    if (catalogs.find(catalogKey) === undefined) unknown.push(catalogKey);
    else counts.set(catalogKey, catalogs.findCount(catalogKey));
  }
  for (const [key, { resources }] of await readCatalogs(reader, unknown)) counts.set(key, resources);
  return counts;
}

/** The resources of those catalogs whose count does not tell them, of each at most so many. */
async function findMembers(reader: IndexReader, counts: Counts, atMost: number): Promise<Members> {
  const unknown: number[] = [];
  for (const [catalogKey, count = Number.POSITIVE_INFINITY] of counts)
    if (count === Number.POSITIVE_INFINITY) unknown.push(catalogKey);
  return unknown.length === 0 ? new Map() : readMembers(reader, unknown, atMost);
}

function replaceHeads(keys: ArrayLike<number>, counts: Counts, members: Members, atMost: number): number[] {
  const found = new Set<number>();
  for (let index = 0; index < keys.length && found.size < atMost; index++) {
    const key = keys[index] as number;
    const catalogKey = catalogKeyOf(key);
    if (!isHead(key)) found.add(key);
    else if (members.has(catalogKey)) for (const member of members.get(catalogKey) ?? []) found.add(member);
    else
      for (let number = 0; number < (counts.get(catalogKey) ?? 0) && found.size < atMost; number++)
        found.add(key + firstNumbers.resource + number);
  }
  return [...found].slice(0, atMost);
}

async function readMembers(
  reader: IndexReader,
  catalogKeys: readonly number[],
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Map<number, number[]>> {
  const { rows } = await reader.query<{ key: number; members: string | null }>(
    `select catalog.key, (
       select array_to_json(array_agg(member.key))::text from (
         select key from discovery.resource
         where resource.key > catalog.key << 26 and resource.key < (catalog.key << 26) + ${firstNumbers.offer}
         order by key limit $2
       ) as member
     ) as members
     from unnest($1::bigint[]) as catalog (key)`,
    [bigintArray(catalogKeys), limit],
    { prepared: true },
  );
  return new Map(rows.map(({ key, members }) => [key, members === null ? [] : JSON.parse(members)]));
}

/** Whether some of the keys stand for catalogs. */
export function hasCatalogs(keys: ArrayLike<number>): boolean {
  for (let index = 0; index < keys.length; index++) if (isHead(keys[index] as number)) return true;
  return false;
}
