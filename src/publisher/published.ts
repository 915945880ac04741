import { parseJson } from '../protocol/json.ts';
import { parseCatalogIndex, parseIndexEntry } from '../protocol/read-signed-files.ts';
import type { IndexEntry } from '../protocol/signed-files.ts';
import type { PublishedCatalog } from './build.ts';
import { DamagedIndex, findIndexNames } from './indexes.ts';
import { indexPath } from './paths.ts';
import { readContent } from './read-content.ts';
import { readFile } from './read-file.ts';
import { placeOf, placesIn } from './tree.ts';

// The published state for readers, without the lock and the key. Content files never change and outlive their entry by a
// cycle, so readers have a consistent state during writes.

export type PublishedTree = Awaited<ReturnType<typeof readPublishedTree>>;

/** Without entries if nothing was published yet. */
export async function readPublishedTree(directory: string) {
  const { root } = placesIn(directory);
  const entries = new Map<string, IndexEntry>();
  for (const name of await findIndexNames({ root })) {
    for (const entry of await readEntries(placeOf({ root }, indexPath(name))))
      entries.set(entry.catalogId, entry);
  }
  return {
    entries: entries as ReadonlyMap<string, IndexEntry>,
    /** Undefined if the catalog was never published; without content if it is retired or unreadable. */
    async find(catalogId: string): Promise<PublishedCatalog | undefined> {
      const entry = entries.get(catalogId);
      if (entry === undefined || entry.retiredAt !== undefined) return entry && { entry };
      const content = await readContent({ root }, entry).catch(() => undefined);
      return { entry, ...(content && { content }) };
    },
  };
}

async function readEntries(path: string): Promise<IndexEntry[]> {
  const bytes = await readFile(path);
  try {
    const { catalogs } = parseCatalogIndex(parseJson(bytes));
    return catalogs.map((entry, position) => parseIndexEntry(entry, ['catalogs', position]));
  } catch (error) {
    throw new DamagedIndex(`${path} cannot be read as an index.`, { cause: error });
  }
}
