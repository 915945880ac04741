import { createPublicKey } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { hasCode } from '../error-code.ts';
import { identityOf } from '../protocol/identity.ts';
import { isJsonObject, type JsonObject, parseJson } from '../protocol/json.ts';
import { parseCatalogIndex, parseIndexEntry } from '../protocol/read-signed-files.ts';
import { claimedKeyOf, signDocument, verifyDocument } from '../protocol/signed-document.ts';
import type { IndexEntry } from '../protocol/signed-files.ts';
import { nextUpdate } from './build.ts';
import { signedForm } from './entry.ts';
import { folders, indexNameOf, indexPath, urlOf } from './paths.ts';
import { readFile } from './read-file.ts';
import { findListedIndexNames } from './read-manifest.ts';
import { type PublisherTree, placeOf, type ReadableTree } from './tree.ts';
import { replaceFile } from './write.ts';

// The indexes of a tree: one, or one per provider or network segment (self-hosted spec: Subscriber record pointer).

export interface PublishedIndex {
  name: string;
  nextUpdate: string;
  entries: ReadonlyMap<string, IndexEntry>;
  /** The entries as in the file. Their signatures cover these, not the working copies. */
  signedEntries: ReadonlyMap<IndexEntry, unknown>;
}

export async function readIndexes(tree: PublisherTree): Promise<Map<string, PublishedIndex>> {
  // Reads the record first, which never lists an index before it exists.
  const listed = await findListedIndexNames(tree.root);
  const names = await findIndexNames(tree);
  refuseLoss(tree, listed, names);
  const indexes = await Promise.all(names.map((name) => readIndex(tree, name)));
  refuseCopies(tree, indexes);
  return new Map(indexes.map((index) => [index.name, index]));
}

/** Without its index, a catalog would start at version 1 again, which readers regard as tampering, and a retired one would return. */
function refuseLoss(tree: PublisherTree, listed: readonly string[], names: readonly string[]): void {
  const lost = listed.find((name) => !names.includes(name));
  if (lost === undefined) return;
  const path = placeOf(tree, indexPath(lost));
  throw new DamagedIndex(
    `${path} is missing, but the Subscriber record lists it. ${restoreIt} To give it up permanently, remove .well-known as well.`,
  );
}

/** A catalog is in one index. With two, it would be unclear which one continues. */
function refuseCopies(tree: PublisherTree, indexes: readonly PublishedIndex[]): void {
  const indexOf = new Map<string, string>();
  for (const { name, entries } of indexes) {
    for (const catalogId of entries.keys()) {
      const other = indexOf.get(catalogId);
      if (other === undefined) indexOf.set(catalogId, name);
      else {
        const [one, two] = [other, name].map((index) => placeOf(tree, indexPath(index)));
        throw new DamagedIndex(`${one} and ${two} both list ${catalogId}. Remove the one that is a copy.`);
      }
    }
  }
}

const restoreIt = 'Restore it from a copy, with the files that it lists.';

export async function findIndexNames(tree: ReadableTree): Promise<string[]> {
  const files = await listFiles(tree, folders.index);
  return files
    .map(indexNameOf)
    .filter((name) => name !== undefined)
    .sort();
}

/** An index that is missing or differs from the one that we signed. The message is for the operator. */
export class DamagedIndex extends Error {
  override readonly name = 'DamagedIndex';
}

async function readIndex(tree: PublisherTree, name: string): Promise<PublishedIndex> {
  const path = placeOf(tree, indexPath(name));
  const bytes = await readFile(path);
  try {
    return { name, ...parseOwnIndex(tree, path, bytes) };
  } catch (error) {
    if (error instanceof DamagedIndex) throw error;
    // This is a fault of the tree, not of the request.
    const problem = 'was changed after it was signed, or the key of that name has changed';
    throw new DamagedIndex(`${path} ${problem}. ${restoreIt}`, { cause: error });
  }
}

function parseOwnIndex(tree: PublisherTree, path: string, bytes: Buffer): Omit<PublishedIndex, 'name'> {
  const document = parseJson(bytes);
  const { nodeId, next_update: nextUpdate = longAgo, catalogs } = parseCatalogIndex(document);
  if (identityOf(nodeId, tree.registryName) !== identityOf(tree.nodeId, tree.registryName))
    throw new DamagedIndex(
      `${path} is the index of ${nodeId}, but this node is ${tree.nodeId}. ${eitherWay}`,
    );
  if (isJsonObject(document)) verifyOwn(tree, document, path);
  const entries = catalogs.map((entry, position) => parseIndexEntry(entry, ['catalogs', position]));
  return {
    nextUpdate,
    entries: new Map(entries.map((entry) => [entry.catalogId, entry])),
    signedEntries: new Map(entries.map((entry, position) => [entry, catalogs[position]])),
  };
}

/** An index without a next update is renewed at once. */
const longAgo = new Date(0).toISOString();
const eitherWay = 'Remove it, or restore the former PUBLISHER_ID or PUBLISHER_DIR.';

/** Refuses to sign an index that someone else has changed. Without the key of its signature, it cannot be checked. */
function verifyOwn({ key, oldKeys, logger }: PublisherTree, document: JsonObject, path: string): void {
  const recordId = claimedKeyOf(document);
  const publicKey = recordId === key.recordId ? createPublicKey(key.privateKey) : oldKeys.get(recordId);
  if (publicKey === undefined)
    logger.warn({ path, key: recordId }, 'the index is signed with a key that is not known here');
  else verifyDocument(document, publicKey);
}

export async function writeIndex(
  tree: PublisherTree,
  { name, entries, signedEntries }: Omit<PublishedIndex, 'nextUpdate'>,
): Promise<void> {
  const { nodeId, limits, key, profile } = tree;
  const document = {
    nodeId,
    next_update: nextUpdate({ now: tree.now(), nextUpdateSeconds: limits.nextUpdateSeconds }),
    catalogs: [...entries.values()].map((entry) => signedEntries.get(entry) ?? signedForm(entry)),
  };
  const index = signDocument(document, key, profile);
  await replaceFile(tree, indexPath(name), Buffer.from(`${JSON.stringify(index)}\n`));
}

export function indexUrl({ baseUrl }: Pick<PublisherTree, 'baseUrl'>, name: string): string {
  return urlOf(baseUrl, indexPath(name));
}

/** The names of the files in a folder of the tree; empty if the folder does not exist yet. */
export async function listFiles(tree: ReadableTree, folder: string): Promise<string[]> {
  try {
    const found = await readdir(placeOf(tree, folder), { withFileTypes: true });
    // A link may lead to a file.
    return found.filter((one) => one.isFile() || one.isSymbolicLink()).map(({ name }) => name);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
