import { bigintArray } from '../../storage/binary-arrays.ts';
import type { IndexReader } from '../cache/caches.ts';
import { type CatalogEntry, maxCounted } from '../cache/catalog-table.ts';
import { refreshCaches } from '../cache/invalidation.ts';
import { stateText } from './catalog-state.ts';
import { firstNumbers, inBatches } from './keys.ts';

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

async function loadMore(reader: IndexReader): Promise<void> {
  const { catalogs } = reader.caches;
  await catalogs.read(async (read) => {
    const { rows } = await reader.query<CatalogRow>(
      `${selectCatalogs} where catalog.key > $1 order by catalog.key limit ${catalogsAtOnce}`,
      [catalogs.loadedUpTo],
      { prepared: true },
    );
    for (const row of rows) read.keep(row.key, parseRow(row));
    if (!read.isStale) catalogs.loadedUpTo = rows.at(catalogsAtOnce - 1)?.key ?? catalogs.limit;
  });
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
      `${selectCatalogs} where catalog.key = any ($1::bigint[])`,
      [bigintArray(keys)],
      { prepared: true },
    );
    const found = new Map<number, CatalogEntry>(keys.map((key) => [key, { state: null, resources: 0 }]));
    for (const row of rows) found.set(row.key, parseRow(row));
    if (state.asked) for (const [key, entry] of found) read.keep(key, entry);
    return found;
  });
}

interface CatalogRow {
  key: number;
  state: string;
  /** How many resources, up to one more than are counted, and the number of the last of these. */
  count: number;
  last: number | null;
}

const selectCatalogs = `select catalog.key, ${stateText} as state, member.count, member.last
  from discovery.catalog cross join lateral (
    select count(*) as count, max(key) & ${firstNumbers.offer - 1} as last from (
      select key from discovery.resource
      where resource.key > catalog.key << 26 and resource.key < (catalog.key << 26) + ${firstNumbers.offer}
      order by key limit ${maxCounted + 1}
    ) as counted
  ) as member`;

function parseRow({ state, count, last }: CatalogRow): CatalogEntry {
  if (count > maxCounted) return { state, resources: Number.POSITIVE_INFINITY };
  return { state, resources: (last ?? 0) === count ? count : undefined };
}
