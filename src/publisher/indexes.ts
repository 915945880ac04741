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

/** An index that is not as we signed it. The message is for whoever looks after the tree. */
export class DamagedIndex extends Error {
  override readonly name = 'DamagedIndex';
}

export async function readIndex(tree: PublisherTree, name: string): Promise<PublishedIndex> {
  const path = placeOf(tree, indexPath(name));
  const bytes = await readFile(path);
  try {
    return { name, ...parseOwnIndex(tree, path, bytes) };
  } catch (error) {
    // What is wrong here is wrong with the tree, not with what somebody asks to publish.
    const advice = 'Restore it from a copy, with the files that it lists.';
    throw new DamagedIndex(`${path} is not as we signed it. ${advice}`, { cause: error });
  }
}

function parseOwnIndex(tree: PublisherTree, path: string, bytes: Buffer): Omit<PublishedIndex, 'name'> {
  const document = parseJson(bytes);
  const { next_update: nextUpdate, catalogs } = parseCatalogIndex(document);
  if (isJsonObject(document)) verifyOwn(tree, document, path);
  const entries = catalogs.map((entry, position) => parseIndexEntry(entry, ['catalogs', position]));
  return { nextUpdate, entries: new Map(entries.map((entry) => [entry.catalogId, entry])) };
}

/** What somebody else wrote into the index is not signed anew by us. Of a key that we do not have nothing can be said. */
function verifyOwn({ key, oldKeys, logger }: PublisherTree, document: JsonObject, path: string): void {
  const recordId = claimedKeyOf(document);
  const publicKey = recordId === key.recordId ? createPublicKey(key.privateKey) : oldKeys.get(recordId);
  if (publicKey === undefined)
    logger.warn({ path, key: recordId }, 'the index is signed with a key that is not known here');
  else verifyDocument(document, publicKey);
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
