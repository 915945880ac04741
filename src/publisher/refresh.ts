import { isJsonObject } from '../protocol/json.ts';
import { claimedKeyOf } from '../protocol/signed-document.ts';
import type { IndexEntry } from '../protocol/signed-files.ts';
import { linksOf } from './entry.ts';
import { type PublishedIndex, readIndexes } from './indexes.ts';
import { isDue, renewManifest } from './keep-manifest.ts';
import type { Publisher } from './publisher.ts';
import { readDeclared } from './read-content.ts';
import { refreshIndexes } from './renew-indexes.ts';
import type { PublisherTree } from './tree.ts';

// Index, manifest and Subscriber record announce their next update (self-hosted spec: Catalog index, next_update). Even without changes
// they are written again before that, so that readers can distinguish a quiet publisher from a dead one.

export interface Refreshed {
  nextUpdate: Date;
  /** The earlier keys of the manifest, with the catalogs that still need them; unneeded ones are dropped from the manifest. */
  formerKeys: ReadonlyMap<string, ReadonlySet<string>>;
}

export async function refresh({ tree, ...details }: Publisher): Promise<Refreshed> {
  await refreshIndexes(tree);
  const formerKeys = await findFormerKeys(tree);
  const needed = [...formerKeys].filter(([, catalogs]) => catalogs.size > 0).map(([key]) => key);
  const nextUpdate = await renewManifest(tree, { ...details, always: true, stillNeeded: new Set(needed) });
  // From here on nothing published names such a key, so this is the only moment to report it.
  const needless = [...formerKeys.keys()].filter((key) => !needed.includes(key));
  const says = 'no listed file is signed with this key any more: it can be revoked';
  for (const key of needless) tree.logger.info({ key, after: nextUpdate }, says);
  return { nextUpdate, formerKeys };
}

/** The same if half of the announced time is over, or if the files have a new address. The manifest is always updated. */
export async function refreshDue(publisher: Publisher): Promise<Date> {
  const { tree, ...details } = publisher;
  const indexes = [...(await readIndexes(tree)).values()];
  const announced = [
    await renewManifest(tree, details),
    ...indexes.map(({ nextUpdate }) => new Date(nextUpdate)),
  ];
  if (announced.some((time) => isDue(time, tree)) || indexes.some((index) => leadsElsewhere(index, tree)))
    return (await refresh(publisher)).nextUpdate;
  return new Date(Math.min(...announced.map((time) => time.getTime())));
}

/** Whether it was written under another base address. */
function leadsElsewhere({ entries }: PublishedIndex, { baseUrl }: PublisherTree): boolean {
  return [...entries.values()].some(
    (entry) => entry.baseline?.url !== linksOf(entry, undefined, baseUrl).baseline?.url,
  );
}

/** Reads every published file, so it runs only if there is such a key. */
async function findFormerKeys(tree: PublisherTree): Promise<Map<string, ReadonlySet<string>>> {
  const former = [...tree.oldKeys.keys()];
  const inUse = former.length > 0 ? await findKeysInUse(tree) : new Map<string, Set<string>>();
  return new Map(former.map((key) => [key, inUse.get(key) ?? new Set()]));
}

/** The keys that signed listed files, each with its catalogs (self-hosted spec: Authentication, 5). A new reader needs all of them. */
async function findKeysInUse(tree: PublisherTree): Promise<Map<string, Set<string>>> {
  const keys = new Map<string, Set<string>>();
  for (const { entries } of (await readIndexes(tree)).values()) {
    for (const entry of entries.values()) {
      for (const key of await keysOf(tree, entry)) {
        const catalogs = keys.get(key) ?? new Set();
        keys.set(key, catalogs.add(entry.catalogId));
      }
    }
  }
  return keys;
}

/** Nobody can verify an unreadable file, so it needs no key. */
async function keysOf(tree: PublisherTree, entry: IndexEntry): Promise<string[]> {
  const { baseline, changes } = entry;
  const files = [
    ...(baseline ? [readDeclared(tree, 'baseline', baseline)] : []),
    ...changes.map((change) => readDeclared(tree, 'change', change)),
  ];
  const read = await Promise.all(files.map((file) => file.catch(() => undefined)));
  return [entry, ...read].filter(isJsonObject).map(claimedKeyOf);
}
