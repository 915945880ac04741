import type { Queryable } from '../../storage/database.ts';
import { type IndexReader, readForCache } from '../cache/caches.ts';
import { refreshCaches } from '../cache/invalidation.ts';
import type { IndexedVersions } from '../documents/catalogs.ts';
import { catalogKeyOf, numberOf } from '../documents/keys.ts';
import { formatOf, type IndexFormat, type IndexFormats, newestOf } from './index-format.ts';

// While catalogs are rebuilt, the index has entries of two formats. A search looks for both. Facts, numbers and geometries of either are only proposals, and checked on the documents; but
// a text is cut into other words by each tokenizer, and a document is found by those of its own.

/** The formats of which there are entries, the newest first. Throws UnknownIndexVersion. */
export async function readFormatsInUse(reader: IndexReader, formats: IndexFormats): Promise<IndexFormat[]> {
  const versions = await readVersions(reader, newestOf(formats).version);
  return versions.map((version) => formatOf(formats, version));
}

/** Whether both make and look for the same entries. */
export function isAlike(a: IndexFormat, b: IndexFormat): boolean {
  return (['tokenizer', 'weights', 'typing', 'attributes', 'geometries'] as const).every(
    (part) => a[part] === b[part],
  );
}

async function readVersions(reader: IndexReader, newest: number): Promise<readonly number[]> {
  const cache = reader.caches.versions;
  if (cache.inUse) return cache.inUse;
  const { found, mayKeep } = await readForCache(reader, async () => {
    const { rows } = await reader.query<Record<string, number | null>>(
      `select version, next, (select min(index_version) from discovery.catalog) as oldest,
         (select max(index_version) from discovery.catalog) as latest
       from (values (0)) as one left join discovery.index_state on true`,
      [],
      { prepared: true },
    );
    const versions = Object.values(rows[0] ?? {}).filter((version) => version !== null);
    return [...new Set(versions.length > 0 ? versions : [newest])].sort((a, b) => b - a);
  });
  if (mayKeep) cache.inUse = found;
  return found;
}

/** Which format the entries of a document have, while there are several; and whether it stayed so. */
export interface DocumentVersions {
  versionOf(key: number): number;
  /** Whether no catalog was rebuilt since: otherwise some lists were read before that and others after it. */
  areStill(): Promise<boolean>;
}

/** Other catalogs may be written again and again while these are read. */
const maxReads = 20;

/** To be called when the caches were refreshed: afterwards they are as fresh as the versions. */
export async function readDocumentVersions(reader: IndexReader, newest: number): Promise<DocumentVersions> {
  const cache = reader.caches.versions;
  for (let reads = 0; reads < maxReads; reads++) {
    await readUnread(reader, newest);
    // Nothing was written since the versions were read, or all that was is known.
    await refreshCaches(reader);
    if (cache.catalogs && cache.newest === newest && cache.unread.size === 0) break;
  }
  const { catalogs = new Map<number, number | IndexedVersions>(), changes } = cache;
  return {
    versionOf(key) {
      const versions = catalogs.get(catalogKeyOf(key)) ?? newest;
      if (typeof versions === 'number') return versions;
      const { index_version, reindexed_below, reindexed_version } = versions;
      const number = numberOf(key);
      return number > 0 && number < reindexed_below ? reindexed_version : index_version;
    },
    async areStill() {
      await refreshCaches(reader);
      if (cache.newest === newest) await readUnread(reader, newest);
      return cache.changes === changes && cache.catalogs === catalogs;
    },
  };
}

/** Searches that call this during a read wait for it: what was written since that began is left for the next one. */
async function readUnread(reader: IndexReader, newest: number): Promise<void> {
  const cache = reader.caches.versions;
  // A read that failed had the time of another search.
  while (cache.reading) await cache.reading.catch(() => undefined);
  if (cache.catalogs && cache.newest === newest && cache.unread.size === 0) return;
  cache.reading = readWritten(reader, newest).finally(() => {
    cache.reading = undefined;
  });
  await cache.reading;
}

async function readWritten(reader: IndexReader, newest: number): Promise<void> {
  const cache = reader.caches.versions;
  // Those that were read beside another newest version lack the catalogs of that one.
  if (cache.newest !== newest) cache.clear();
  const { catalogs, changes } = cache;
  const unread = catalogs && [...cache.unread];
  cache.unread.clear();
  cache.isWatching = true;
  cache.newest = newest;
  const found = await readOthers(reader, newest, unread).catch((error) => {
    cache.clear();
    throw error;
  });
  // All was forgotten meanwhile: what was read may be older than that.
  if (cache.changes !== changes) return;
  if (unread === undefined || catalogs === undefined) {
    cache.catalogs = found;
    return;
  }
  for (const key of unread) {
    const [before, now] = [catalogs.get(key), found.get(key)];
    if (JSON.stringify(before) === JSON.stringify(now)) continue;
    cache.changes++;
    if (now !== undefined) catalogs.set(key, now);
    else catalogs.delete(key);
  }
}

/** Those that have not the newest version throughout: all of them, or some. */
async function readOthers(
  queryable: Queryable,
  newest: number,
  keys: readonly number[] | undefined,
): Promise<Map<number, number | IndexedVersions>> {
  const { rows } = await queryable.query<IndexedVersions & { key: number }>(
    `select key, index_version, reindexed_below, reindexed_version from discovery.catalog
     where (index_version < $1 or index_version > $1 or reindexed_below > 0) and ($2::bigint[] is null or key = any ($2))`,
    [newest, keys ?? null],
  );
  return new Map(
    rows.map(({ key, ...versions }) => [
      key,
      versions.reindexed_below > 0 ? versions : versions.index_version,
    ]),
  );
}
