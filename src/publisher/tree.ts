import type { KeyObject } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Logger } from '../logger.ts';
import { sha256Matches } from '../protocol/digest.ts';
import { parseJson } from '../protocol/json.ts';
import type { SigningKey } from '../protocol/keys.ts';
import {
  parseBaselineFile,
  parseCatalogIndex,
  parseChangeFile,
  parseIndexEntry,
} from '../protocol/read-signed-files.ts';
import { signDocument, type WireProfile } from '../protocol/signed-document.ts';
import type { CatalogIndex, IndexEntry } from '../protocol/signed-files.ts';
import type { Check } from '../rules/check-attributes.ts';
import { applyChangeFiles, type CatalogContent, contentOfBaseline } from '../rules/self-hosted/content.ts';
import { planReading } from '../rules/self-hosted/reading-plan.ts';
import { withFileLock } from '../storage/file-lock.ts';
import { nextUpdate } from './build.ts';
import { type FileKind, indexNameOf, indexPath, pathOfUrl, urlOf } from './paths.ts';
import { clearDrafts, type Place, replaceFile } from './write.ts';

/** The directory of a publisher. It is the publisher's whole state: there is no database. */
export interface PublisherTree extends Place {
  /** What is served: a plain directory, which any static host can serve a copy of. */
  root: string;
  lockDirectory: string;
  /** Base address of the served files (`catalogBaseURL`). */
  baseUrl: string;
  /** The subscriberId in the registry, and the registry that a bare domain belongs to. */
  nodeId: string;
  registryName: string;
  key: SigningKey;
  /** Keys that signed what is still published, by their record id. */
  oldKeys: ReadonlyMap<string, KeyObject>;
  profile: WireProfile;
  schemas: { checker(): Check };
  limits: PublisherLimits;
  now(): Date;
  logger: Logger;
}

export interface PublisherLimits {
  nextUpdateSeconds: number;
  compactionChanges: number;
  compactionFraction: number;
  /** How long a writer waits for the one before it. */
  lockWaitMs: number;
}

export interface PublisherTreeOptions
  extends Pick<PublisherTree, 'baseUrl' | 'nodeId' | 'registryName' | 'key' | 'schemas' | 'logger'>,
    Partial<Pick<PublisherTree, 'oldKeys' | 'profile' | 'now'>> {
  /** Holds the published files in `public`, beside them the lock and what is being written. */
  directory: string;
  limits?: Partial<PublisherLimits>;
}

const defaultLimits: PublisherLimits = {
  nextUpdateSeconds: 86_400,
  compactionChanges: 20,
  compactionFraction: 0.5,
  lockWaitMs: 600_000,
};

export function openPublisherTree({ directory, limits, ...options }: PublisherTreeOptions): PublisherTree {
  const home = resolve(directory);
  return {
    oldKeys: new Map(),
    profile: 'spec',
    now: () => new Date(),
    ...options,
    root: join(home, 'public'),
    draftsDirectory: join(home, 'drafts'),
    lockDirectory: join(home, 'lock'),
    limits: { ...defaultLimits, ...limits },
  };
}

/** One writer at a time, also across processes; a dead writer's lock is taken over. */
export function withTreeLock<T>(tree: PublisherTree, work: () => Promise<T>): Promise<T> {
  return withFileLock(tree.lockDirectory, tree.limits.lockWaitMs, async () => {
    await clearDrafts(tree);
    return work();
  });
}

/** The entries of one index by their catalog id. */
export interface PublishedIndex {
  name: string;
  entries: ReadonlyMap<string, IndexEntry>;
}

/** Every index of the tree; the default one stands for itself even before it is written. */
export async function readIndexes(tree: PublisherTree): Promise<Map<string, PublishedIndex>> {
  const files = await readdir(join(tree.root, 'index')).catch(() => []);
  const names = files.map(indexNameOf).filter((name) => name !== undefined);
  const indexes = await Promise.all(names.sort().map((name) => readIndex(tree, name)));
  return new Map(indexes.map((index) => [index.name, index]));
}

export async function readIndex(tree: PublisherTree, name: string): Promise<PublishedIndex> {
  const bytes = await readFile(join(tree.root, indexPath(name)));
  const { catalogs } = parseCatalogIndex(parseJson(bytes));
  const entries = catalogs.map((entry, position) => parseIndexEntry(entry, ['catalogs', position]));
  return { name, entries: new Map(entries.map((entry) => [entry.catalogId, entry])) };
}

export async function writeIndex(tree: PublisherTree, { name, entries }: PublishedIndex): Promise<void> {
  const { nodeId, limits, key, profile } = tree;
  const index: CatalogIndex = signDocument(
    {
      nodeId,
      next_update: nextUpdate({ now: tree.now(), nextUpdateSeconds: limits.nextUpdateSeconds }),
      catalogs: [...entries.values()],
    },
    key,
    profile,
  );
  await replaceFile(tree, indexPath(name), Buffer.from(JSON.stringify(index)));
}

export function indexUrl(tree: PublisherTree, name: string): string {
  return urlOf(tree.baseUrl, indexPath(name));
}

/** What the files of an entry add up to; throws where one of them is not what the entry declares. */
export async function readContent(tree: PublisherTree, entry: IndexEntry): Promise<CatalogContent> {
  const plan = planReading(entry, undefined, { cutoverFraction: Number.POSITIVE_INFINITY });
  if (plan.kind !== 'baseline') throw new Error(`the files of ${entry.catalogId} do not lead to a content`);
  const { baseline, changes } = plan;
  const content = contentOfBaseline(parseBaselineFile(await readDeclared(tree, 'baseline', baseline)));
  const files = await Promise.all(
    changes.map(async (change) => parseChangeFile(await readDeclared(tree, 'change', change))),
  );
  return applyChangeFiles(content, files);
}

async function readDeclared(
  tree: PublisherTree,
  kind: FileKind,
  { url, digest }: { url: string; digest: string },
): Promise<unknown> {
  const path = pathOfUrl(kind, url);
  const served = await readFile(join(tree.root, path));
  const bytes = path.endsWith('.gz') ? gunzipSync(served) : served;
  if (!sha256Matches(digest, bytes)) throw new Error(`${path} is not what the index declares`);
  return parseJson(bytes);
}
