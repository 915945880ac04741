import { bigintArray } from './binary-arrays.ts';
import type { Queryable } from './database.ts';
import { catalogKeyOf, firstNumbers, isHead, keysBetween } from './discovery-keys.ts';
import { memberMemory, readToKeep } from './index-memory.ts';

/** Of catalogs with more resources, only as many are read as are asked for. */
const maxKept = 1_000;

/** The first so many resources, in the order in which they are named, none twice: a catalog's own key stands for all its resources. */
export async function withMembers<K extends ArrayLike<number>>(
  queryable: Queryable,
  keys: K,
  atMost = Number.MAX_SAFE_INTEGER,
): Promise<K | number[]> {
  if (!hasCatalogs(keys)) return keysBetween(keys, 0, atMost);
  const membersOf = await findMembers(queryable, keys, atMost);
  const found = new Set<number>();
  for (let index = 0; index < keys.length && found.size < atMost; index++) {
    const key = keys[index] as number;
    if (!isHead(key)) found.add(key);
    else for (const member of membersOf(catalogKeyOf(key))) found.add(member);
  }
  return [...found].slice(0, atMost);
}

/** The resources of the catalogs that stand among these keys, of each at most so many; what is not known is read. */
async function findMembers(
  queryable: Queryable,
  keys: ArrayLike<number>,
  atMost: number,
): Promise<(catalogKey: number) => readonly number[]> {
  const known = new Map<number, readonly number[]>();
  const unknown: number[] = [];
  const memory = memberMemory(queryable);
  for (let index = 0; index < keys.length; index++) {
    if (!isHead(keys[index] as number)) continue;
    const catalogKey = catalogKeyOf(keys[index] as number);
    const members = memory.find(catalogKey);
    if (members) known.set(catalogKey, members);
    else unknown.push(catalogKey);
  }
  if (unknown.length > 0) {
    const limit = Math.max(atMost, maxKept + 1);
    const { found, mayKeep } = await readToKeep(queryable, () => readMembers(queryable, unknown, limit));
    for (const [catalogKey, members] of found) {
      known.set(catalogKey, members);
      if (mayKeep && members.length <= maxKept) memory.keep(catalogKey, members);
    }
  }
  return (catalogKey) => known.get(catalogKey) ?? [];
}

async function readMembers(
  queryable: Queryable,
  catalogKeys: readonly number[],
  limit: number,
): Promise<Map<number, number[]>> {
  const { rows } = await queryable.query<{ key: number; members: string | null }>(
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
