import { promisify } from 'node:util';
import { constants, gunzip } from 'node:zlib';
import { addTo } from '../group.ts';
import { sha256Matches } from '../protocol/digest.ts';
import type { BaselineFile, ChangeFile, ChangeReference, IndexEntry } from '../protocol/signed-files.ts';
import { applyChangeFiles, type CatalogContent, contentOfBaseline } from '../rules/self-hosted/content.ts';
import { planReading } from '../rules/self-hosted/reading-plan.ts';
import { listFiles } from './indexes.ts';
import { type ContentFile, type FileKind, findContentFile, folders, pathOfUrl } from './paths.ts';
import { readFile, withFile } from './read-file.ts';
import { placeOf, type ReadableTree } from './tree.ts';

// Reads our own files. Their digest in the signed index proves that we wrote them, so nothing else is checked.

/** Reads the content of an entry from its files; throws if one is missing, or differs from its declaration. */
export async function readContent(tree: ReadableTree, entry: IndexEntry): Promise<CatalogContent> {
  const plan = planReading(entry, undefined, { cutoverFraction: Number.POSITIVE_INFINITY });
  if (plan.kind !== 'baseline') throw new Error(`the files of ${entry.catalogId} have a gap`);
  const { baseline, changes } = plan;
  const content = contentOfBaseline(await readDeclared<BaselineFile>(tree, 'baseline', baseline));
  const files = await Promise.all(changes.map((change) => readDeclared<ChangeFile>(tree, 'change', change)));
  return applyChangeFiles(content, files);
}

/** Reads a file of an entry; throws if it differs from its declaration. */
export async function readDeclared<T>(
  tree: ReadableTree,
  kind: FileKind,
  { url, digest }: { url: string; digest: string },
): Promise<T> {
  const path = pathOfUrl(kind, url);
  const served = await readFile(placeOf(tree, path));
  const bytes = isGzipped(path) ? await unzip(served) : served;
  if (![served, bytes].some((candidate) => sha256Matches(digest, candidate)))
    throw new Error(`${path} does not match the index`);
  return JSON.parse(bytes.toString('utf8'));
}

/** The unreadable superseded changes of an entry. Readers that need one are better served by the baseline. */
export async function findDamagedChanges(tree: ReadableTree, { baseline, changes }: IndexEntry) {
  const damaged: ChangeReference[] = [];
  for (const change of changes) {
    if (baseline === undefined || change.toVersion > baseline.version) continue;
    await readDeclared(tree, 'change', change).catch(() => damaged.push(change));
  }
  return damaged;
}

/** The baseline and change files of the tree by the local name of their catalog, listed in an index or not. */
export async function listContentFiles(tree: ReadableTree): Promise<Map<string, ContentFile[]>> {
  const byCatalog = new Map<string, ContentFile[]>();
  for (const kind of ['baseline', 'change'] as const) {
    for (const name of await listFiles(tree, folders[kind])) {
      const file = findContentFile(kind, name);
      if (file) addTo(byCatalog, file.local, file);
    }
  }
  return byCatalog;
}

export async function readBaselines(tree: ReadableTree, files: readonly ContentFile[]) {
  const baselines = files.filter(({ kind }) => kind === 'baseline');
  const found = await Promise.all(baselines.map((file) => findBaseline(tree, file)));
  return found.filter((baseline) => baseline !== undefined);
}

/** The members of a baseline before its catalog, which may be very long. */
async function findBaseline(tree: ReadableTree, { path, version }: ContentFile) {
  try {
    const text = (await readStart(tree, path)).toString('utf8');
    const head: Partial<BaselineFile> = JSON.parse(`${text.slice(0, text.indexOf(',"catalog":'))}}`);
    const { next_update: cycleEnd } = head;
    return cycleEnd === undefined ? undefined : { path, version, cycleEnd: new Date(cycleEnd) };
  } catch {
    return undefined;
  }
}

async function readStart(tree: ReadableTree, path: string): Promise<Buffer> {
  return withFile(placeOf(tree, path), async (file) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(startBytes), 0, startBytes, 0);
    const start = buffer.subarray(0, bytesRead);
    return isGzipped(path) ? unzip(start, { finishFlush: constants.Z_SYNC_FLUSH }) : start;
  });
}

/** An id has at most 512 characters, so this covers everything before the catalog. */
const startBytes = 8192;
const unzip = promisify(gunzip) as (bytes: Buffer, options?: { finishFlush: number }) => Promise<Buffer>;

function isGzipped(path: string): boolean {
  return path.endsWith('.gz');
}
