import { createPublicKey } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { isJsonObject, type JsonObject, parseJson } from '../protocol/json.ts';
import { parseCatalogIndex, parseIndexEntry } from '../protocol/read-signed-files.ts';
import { claimedKeyOf, signDocument, verifyDocument } from '../protocol/signed-document.ts';
import type { CatalogIndex, IndexEntry } from '../protocol/signed-files.ts';
import { nextUpdate } from './build.ts';
import { folders, indexNameOf, indexPath, urlOf } from './paths.ts';
import { type PublisherTree, placeOf } from './tree.ts';
import { replaceFile } from './write.ts';

// The indexes of a tree: one, or one per provider or network segment (self-hosted spec: Subscriber record pointer).

export interface PublishedIndex {
  name: string;
  nextUpdate: string;
  /** By the id of the catalog. */
  entries: ReadonlyMap<string, IndexEntry>;
}

/** By their name. */
export async function readIndexes(tree: PublisherTree): Promise<Map<string, PublishedIndex>> {
  const names = await findIndexNames(tree);
  const indexes = await Promise.all(names.map((name) => readIndex(tree, name)));
  return new Map(indexes.map((index) => [index.name, index]));
}

export async function findIndexNames(tree: Pick<PublisherTree, 'root'>): Promise<string[]> {
  const files = await listDirectory(tree, folders.index);
  return files
    .map(indexNameOf)
    .filter((name) => name !== undefined)
    .sort();
}

export async function readIndex(tree: PublisherTree, name: string): Promise<PublishedIndex> {
  const path = placeOf(tree, indexPath(name));
  const document = parseJson(await readFile(path));
  const { next_update, catalogs } = parseCatalogIndex(document);
  if (isJsonObject(document)) verifyOwn(tree, document, path);
  const entries = catalogs.map((entry, position) => parseIndexEntry(entry, ['catalogs', position]));
  return {
    name,
    nextUpdate: next_update,
    entries: new Map(entries.map((entry) => [entry.catalogId, entry])),
  };
}

/** What somebody else wrote into the index is not signed anew by us. Of a key that we do not have nothing can be said. */
function verifyOwn({ key, oldKeys, logger }: PublisherTree, document: JsonObject, path: string): void {
  const recordId = claimedKeyOf(document);
  const publicKey = recordId === key.recordId ? createPublicKey(key.privateKey) : oldKeys.get(recordId);
  if (publicKey === undefined) {
    logger.warn({ path, key: recordId }, 'the index is signed with a key that is not known here');
    return;
  }
  try {
    verifyDocument(document, publicKey);
  } catch (error) {
    throw new Error(`${path} is not as we signed it. Restore it from a copy, with the files that it lists.`, {
      cause: error,
    });
  }
}

export async function writeIndex(
  tree: PublisherTree,
  { name, entries }: Pick<PublishedIndex, 'name' | 'entries'>,
): Promise<void> {
  const { nodeId, limits, key, profile } = tree;
  const document: Omit<CatalogIndex, 'signature'> = {
    nodeId,
    next_update: nextUpdate({ now: tree.now(), nextUpdateSeconds: limits.nextUpdateSeconds }),
    catalogs: [...entries.values()],
  };
  const index = signDocument(document, key, profile);
  await replaceFile(tree, indexPath(name), Buffer.from(`${JSON.stringify(index)}\n`));
}

export function indexUrl({ baseUrl }: Pick<PublisherTree, 'baseUrl'>, name: string): string {
  return urlOf(baseUrl, indexPath(name));
}

/** The names in a folder of the tree; none where it was not made yet. */
export async function listDirectory(tree: Pick<PublisherTree, 'root'>, folder: string): Promise<string[]> {
  try {
    return await readdir(placeOf(tree, folder));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
