import { bigintArray } from '../../storage/binary-arrays.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import { catalogKeyOf, firstNumbers, isHead, keysBetween } from './keys.ts';

/** Of catalogs with more resources, only as many are read as are asked for. */
const maxKept = 1_000;

/** By the catalogs' keys. */
type Members = Map<number, readonly number[] | null | undefined>;

/** The first so many resources, in the order in which they are named, none twice: a catalog's own key stands for all its resources. */
export async function expandMembers<K extends ArrayLike<number>>(
  reader: IndexReader,
  keys: K,
  atMost = Number.MAX_SAFE_INTEGER,
): Promise<K | number[]> {
  if (!hasCatalogs(keys)) return keysBetween(keys, 0, atMost);
  return replaceHeads(keys, await findMembers(reader, findKnownMembers(reader, keys), atMost), atMost);
}

/** All of them, where they are at most so many and no catalog has too many to be known from now on; otherwise undefined. */
export async function expandFewMembers(
  reader: IndexReader,
  keys: ArrayLike<number>,
  atMost: number,
): Promise<readonly number[] | undefined> {
  if (keys.length > atMost) return undefined;
  if (!hasCatalogs(keys)) return Array.from(keys);
  const known = findKnownMembers(reader, keys);
  if (areMany(known, atMost)) return undefined;
  const found = await findMembers(reader, known, maxKept);
  const few = areMany(found, atMost) ? undefined : replaceHeads(keys, found, atMost + 1);
  return few && few.length <= atMost ? few : undefined;
}

/** Counted before they are put together, which would take long. */
function areMany(catalogs: Members, atMost: number): boolean {
  let count = 0;
  for (const members of catalogs.values()) {
    if (members === null || (members && members.length > maxKept)) return true;
    count += members?.length ?? 0;
  }
  return count > atMost;
}

/** The catalogs that stand among these keys. Their resources are undefined where they are not known, and null where they are many. */
function findKnownMembers(reader: IndexReader, keys: ArrayLike<number>): Members {
  const cache = reader.caches.members;
  const known: Members = new Map();
  for (let index = 0; index < keys.length; index++) {
    if (!isHead(keys[index] as number)) continue;
    const catalogKey = catalogKeyOf(keys[index] as number);
    known.set(catalogKey, cache.find(catalogKey));
  }
  return known;
}

/** Of each catalog at most so many; what is not known is read. */
async function findMembers(reader: IndexReader, known: Members, atMost: number): Promise<Members> {
  const unknown = Array.from(known.keys()).filter((catalogKey) => !known.get(catalogKey));
  if (unknown.length === 0) return known;
  const limit = Math.max(atMost, maxKept + 1);
  const { found, mayKeep } = await readForCache(reader, () => readMembers(reader, unknown, limit));
  const cache = reader.caches.members;
  for (const [catalogKey, members] of found)
    if (mayKeep) cache.keep(catalogKey, members.length <= maxKept ? members : null);
  return new Map([...known, ...found]);
}

function replaceHeads(keys: ArrayLike<number>, members: Members, atMost: number): number[] {
  const found = new Set<number>();
  for (let index = 0; index < keys.length && found.size < atMost; index++) {
    const key = keys[index] as number;
    if (!isHead(key)) found.add(key);
    else for (const member of members.get(catalogKeyOf(key)) ?? []) found.add(member);
  }
  return [...found].slice(0, atMost);
}

async function readMembers(
  reader: IndexReader,
  catalogKeys: readonly number[],
  limit: number,
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
