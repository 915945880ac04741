import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import type { IndexReader } from '../cache/caches.ts';
import { catalogKeyOf, headOf, span } from '../keys.ts';
import { type DocSet, nextLeft } from '../set/doc-set.ts';
import { dropRepeats, hasKey, type Keys, noKeys, union } from '../set/sorted.ts';
import { readCatalogs } from './scope.ts';

// The resources of catalogs, as sets. Usually the number of resources of a catalog determines their keys (cache/catalog-table.ts).

/** Estimated resources per catalog. */
export const resourcesOfCatalog = 3;

/** The estimated number of resources in the catalog of a document. */
export function countMembers({ caches: { catalogs } }: IndexReader, key: number): number {
  return catalogs.findCount(catalogKeyOf(key)) || resourcesOfCatalog;
}

/** All resources of the catalogs whose heads are in a set. */
export function membersOf(reader: IndexReader, heads: DocSet): DocSet {
  const list = (some: Keys) => listMembers(reader, some);
  return {
    estimate: heads.estimate * resourcesOfCatalog,
    next: (limit) => nextLeft(() => heads.next(Math.ceil(limit / resourcesOfCatalog)), list),
    async among(keys) {
      const found = await heads.among(headsOf(keys));
      return keys.filter((key) => hasKey(found, headOf(key)));
    },
  };
}

/** The heads of the catalogs of some documents, without repetitions. */
export function headsOf(keys: Keys): Keys {
  return dropRepeats(keys.map(headOf));
}

/** All resources of catalogs, given by their heads, in order. */
export async function listMembers(reader: IndexReader, heads: Keys): Promise<Keys> {
  const { catalogs } = reader.caches;
  const unknown = Array.from(heads, catalogKeyOf).filter((key) => catalogs.find(key) === undefined);
  const read = await readCatalogs(reader, unknown);
  const uncounted: number[] = [];
  const counts = Array.from(heads, (head) => {
    const key = catalogKeyOf(head);
    const count = read.has(key) ? read.get(key)?.resources : catalogs.findCount(key);
    if (count === undefined) uncounted.push(head);
    return count ?? 0;
  });
  const counted = new Float64Array(counts.reduce((sum, count) => sum + count, 0));
  let at = 0;
  for (const [index, count] of counts.entries())
    for (let number = 1; number <= count; number++) counted[at++] = (heads[index] as number) + number;
  return uncounted.length === 0 ? counted : union([counted, await listOf(reader, 'resource', uncounted)]);
}

/** The resources, or offers, of catalogs, given by their heads, in order. */
export function listOf(queryable: Queryable, kind: 'resource' | 'offer', heads: ArrayLike<number>) {
  return readKeys(
    queryable,
    `select document.key from unnest($1::bigint[]) as wanted (head) cross join lateral (
       select key from discovery.${kind} where key > wanted.head and key < wanted.head + ${span} offset 0) as document`,
    [bigintArray(heads)],
  );
}

/** Every resource, or every offer, if nothing else leads. */
export function everyDocument(queryable: Queryable, kind: 'resource' | 'offer'): DocSet {
  let last = 0;
  return {
    estimate: Number.MAX_SAFE_INTEGER,
    async next(limit) {
      const select = `select key from discovery.${kind} where key > $1::bigint order by key limit $2`;
      const keys = await readKeys(queryable, select, [last, limit]);
      last = keys.at(-1) ?? last;
      return keys.length > 0 ? keys : undefined;
    },
    among: async (keys) => keys,
  };
}

/** The keys that a statement selects, in order. They come as the bytes of one row: thousands take the time of a few rows. */
export async function readKeys(queryable: Queryable, select: string, parameters: unknown[]): Promise<Keys> {
  const text = `select string_agg(int8send(key), '' order by key) from (${select}) as found`;
  return decodeKeys(await queryable.value(text, parameters, { prepared: true }));
}

export function decodeKeys(bytes: Buffer | null | undefined): Keys {
  if (!bytes) return noKeys;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const keys = new Float64Array(bytes.length / 8);
  for (let index = 0; index < keys.length; index++)
    keys[index] = view.getInt32(index * 8) * 2 ** 32 + view.getUint32(index * 8 + 4);
  return keys;
}
