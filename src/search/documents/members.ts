import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import type { IndexReader } from '../cache/caches.ts';
import { catalogKeyOf, firstNumbers, headOf } from '../keys.ts';
import type { DocSet } from '../set/doc-set.ts';
import { hasKey, type Keys, noKeys, union } from '../set/sorted.ts';
import { readCatalogs } from './load-catalogs.ts';

// The resources of catalogs, as sets. Mostly how many a catalog has tells which (cache/catalog-table.ts).

/** Resources of a catalog, about. */
export const resourcesOfCatalog = 3;

/** All resources of the catalogs whose heads are in a set. */
export function membersOf(reader: IndexReader, heads: DocSet): DocSet {
  return {
    estimate: heads.estimate * resourcesOfCatalog,
    async next(limit) {
      for (;;) {
        const some = await heads.next(Math.ceil(limit / resourcesOfCatalog));
        if (some === undefined) return undefined;
        const members = await listMembers(reader, some);
        if (members.length > 0) return members;
      }
    },
    async among(keys) {
      const found = await heads.among(headsOf(keys));
      return keys.filter((key) => hasKey(found, headOf(key)));
    },
  };
}

/** The heads of the catalogs of some documents, each once. */
export function headsOf(keys: Keys): Keys {
  const heads = new Float64Array(keys.length);
  let count = 0;
  for (let index = 0; index < keys.length; index++) {
    const head = headOf(keys[index] as number);
    if (count === 0 || heads[count - 1] !== head) heads[count++] = head;
  }
  return heads.subarray(0, count);
}

/** All resources of catalogs, which are given by their heads, in order. */
export async function listMembers(reader: IndexReader, heads: Keys): Promise<Keys> {
  const { catalogs } = reader.caches;
  const unknown = Array.from(heads, catalogKeyOf).filter((key) => catalogs.find(key) === undefined);
  const read = await readCatalogs(reader, unknown);
  const counts = new Uint32Array(heads.length);
  const uncounted: number[] = [];
  let total = 0;
  for (let index = 0; index < heads.length; index++) {
    const catalogKey = catalogKeyOf(heads[index] as number);
    const count = read.has(catalogKey) ? read.get(catalogKey)?.resources : catalogs.findCount(catalogKey);
    if (count === undefined) uncounted.push(heads[index] as number);
    else counts[index] = count;
    total += counts[index] as number;
  }
  const found = new Float64Array(total);
  let at = 0;
  for (let index = 0; index < heads.length; index++)
    for (let number = 1; number <= (counts[index] as number); number++)
      found[at++] = (heads[index] as number) + number;
  return uncounted.length === 0 ? found : union([found, await readMembers(reader, uncounted)]);
}

async function readMembers(reader: IndexReader, heads: readonly number[]): Promise<Keys> {
  const { rows } = await reader.query<{ keys: Buffer | null }>(
    `select string_agg(int8send(member.key), '' order by member.key) as keys from unnest($1::bigint[]) as wanted (head)
     cross join lateral (
       select key from discovery.resource where resource.key > wanted.head and resource.key < wanted.head + ${firstNumbers.offer}) as member`,
    [bigintArray(heads)],
    { prepared: true },
  );
  return decodeKeys(rows[0]?.keys);
}

/** Every resource, or every offer: where nothing else leads. */
export function everyDocument(queryable: Queryable, kind: 'resource' | 'offer'): DocSet {
  let last = 0;
  return {
    estimate: Number.MAX_SAFE_INTEGER,
    async next(limit) {
      const { rows } = await queryable.query<{ keys: Buffer | null }>(
        `select string_agg(int8send(key), '') as keys from (
           select key from discovery.${kind} where key > $1::bigint order by key limit $2) as next`,
        [last, limit],
        { prepared: true },
      );
      const keys = decodeKeys(rows[0]?.keys);
      last = keys.at(-1) ?? last;
      return keys.length > 0 ? keys : undefined;
    },
    among: async (keys) => keys,
  };
}

export function decodeKeys(bytes: Buffer | null | undefined): Keys {
  if (!bytes) return noKeys;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const keys = new Float64Array(bytes.length / 8);
  for (let index = 0; index < keys.length; index++)
    keys[index] = view.getInt32(index * 8) * 2 ** 32 + view.getUint32(index * 8 + 4);
  return keys;
}
