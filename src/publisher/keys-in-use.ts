import { isJsonObject } from '../protocol/json.ts';
import { claimedKeyOf } from '../protocol/signed-document.ts';
import type { IndexEntry } from '../protocol/signed-files.ts';
import { readIndexes } from './indexes.ts';
import { readDeclared } from './read-content.ts';
import type { PublisherTree } from './tree.ts';

/**
 * The keys that what is listed is signed with, each with the catalogs that it signs something of (self-hosted spec: Authentication, 5).
 * Whoever reads a catalog for the first time needs every one of them.
 */
export async function findKeysInUse(tree: PublisherTree): Promise<Map<string, Set<string>>> {
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

/** A file that cannot be read is nobody's to verify: it needs no key. */
async function keysOf(tree: PublisherTree, entry: IndexEntry): Promise<string[]> {
  const { baseline, changes } = entry;
  const files = [
    ...(baseline ? [readDeclared(tree, 'baseline', baseline)] : []),
    ...changes.map((change) => readDeclared(tree, 'change', change)),
  ];
  const read = await Promise.all(files.map((file) => file.catch(() => undefined)));
  return [entry, ...read].filter(isJsonObject).map(claimedKeyOf);
}
