import { bigintArray } from '../../storage/binary-arrays.ts';
import type { IndexReader } from '../cache/caches.ts';
import { type CatalogEntry, maxCounted, stateColumns, stateText } from '../cache/catalog-table.ts';
import { refreshCaches } from '../cache/invalidation.ts';
import { firstNumbers } from '../keys.ts';
import { inBatches } from '../set/sorted.ts';

// Fills the table of all catalogs (cache/catalog-table.ts): whole when the process starts, and with those that have changed since, before somebody asks for them.

/** Read by one statement, in some ten milliseconds. */
const catalogsAtOnce = 5_000;

/** Loads the catalogs that are not known yet, until the signal. */
export async function loadCatalogs(reader: IndexReader, signal?: AbortSignal): Promise<void> {
  const { catalogs } = reader.caches;
  await refreshCaches(reader, { mayLag: true });
  for (const keys of inBatches([...catalogs.unread], catalogsAtOnce)) await readCatalogs(reader, keys);
  while (catalogs.loadedUpTo < catalogs.limit && !signal?.aborted) await loadMore(reader);
}

/** Most catalogs have the state of others: those of one state come in one row, as bytes. */
async function loadMore(reader: IndexReader): Promise<void> {
  const { catalogs } = reader.caches;
  await catalogs.read(async (read) => {
    const { rows } = await reader.query<{ state: string; catalogs: Buffer }>(
      `select ${stateText} as state, string_agg(int4send(key::integer) || int4send(count::integer) || int4send(last::integer), '') as catalogs
       from (select * from discovery.catalog where key > $1 order by key limit ${catalogsAtOnce}) as catalog ${countMembers}
       group by ${stateColumns}`,
      [catalogs.loadedUpTo],
      { prepared: true },
    );
    let [count, highest] = [0, 0];
    for (const row of rows)
      for (const each of decodeCatalogs(row.catalogs)) {
        read.keep(each.key, entryOf(row.state, each));
        highest = Math.max(highest, each.key);
        count++;
      }
    if (!read.isStale) catalogs.loadedUpTo = count < catalogsAtOnce ? catalogs.limit : highest;
  });
}

function* decodeCatalogs(bytes: Buffer): Generator<CountedCatalog> {
  for (let at = 0; at < bytes.length; at += 12)
    yield { key: bytes.readInt32BE(at), count: bytes.readInt32BE(at + 4), last: bytes.readInt32BE(at + 8) };
}

/** Those that are not there have no state. */
export async function readCatalogs(
  reader: IndexReader,
  keys: readonly number[],
): Promise<Map<number, CatalogEntry>> {
  if (keys.length === 0) return new Map();
  const { catalogs, state } = reader.caches;
  return catalogs.read(async (read) => {
    const { rows } = await reader.query<CatalogRow>(
      `select key, ${stateText} as state, count, last from discovery.catalog ${countMembers} where key = any ($1::bigint[])`,
      [bigintArray(keys)],
      { prepared: true },
    );
    const found = new Map<number, CatalogEntry>(keys.map((key) => [key, { state: null, resources: 0 }]));
    for (const row of rows) found.set(row.key, entryOf(row.state, row));
    if (state.asked) for (const [key, entry] of found) read.keep(key, entry);
    return found;
  });
}

interface CatalogRow extends CountedCatalog {
  state: string;
}

interface CountedCatalog {
  key: number;
  /** How many resources, up to one more than are counted, and the number of the last of these. */
  count: number;
  last: number;
}

const countMembers = `cross join lateral (
    select count(*) as count, coalesce(max(member.key) & ${firstNumbers.offer - 1}, 0) as last from (
      select resource.key from discovery.resource
      where resource.key > catalog.key << 26 and resource.key < (catalog.key << 26) + ${firstNumbers.offer}
      order by resource.key limit ${maxCounted + 1}
    ) as member
  ) as members`;

function entryOf(state: string, { count, last }: CountedCatalog): CatalogEntry {
  return { state, resources: last === count && count <= maxCounted ? count : undefined };
}
