import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { manifestPaths } from '../protocol/endpoints.ts';
import type { ManifestKey } from '../protocol/signed-files.ts';
import { findIndexNames, indexUrl, listFiles } from './indexes.ts';
import {
  buildManifest,
  buildSubscriberRecord,
  isRecordPath,
  type NodeDescription,
  type NodeDetails,
  recordPath,
  type Times,
} from './manifest.ts';
import { readFile } from './read-file.ts';
import { findManifest, type PublishedManifest } from './read-manifest.ts';
import { type PublisherTree, withTreeLock } from './tree.ts';
import { replaceFile, writeContent } from './write.ts';

// Manifest and Subscriber record in the tree: written when their content has changed, or when they are due. The manifest also lists
// earlier keys.

interface ManifestRenewal extends NodeDetails {
  /** Writes them even if unchanged and not due. */
  always?: boolean;
  /** Earlier keys that stay listed; default: all. */
  stillNeeded?: ReadonlySet<string>;
}

export function renewManifest(tree: PublisherTree, renewal: ManifestRenewal): Promise<Date> {
  return withTreeLock(tree, async () => {
    const now = tree.now();
    const before = await findManifest(tree.root);
    const node = await describeNode(tree, renewal, before?.manifest);
    if (before && !renewal.always) {
      const announced = new Date(before.manifest.next_update);
      if (!isDue(announced, tree) && (await says(tree, node, before))) return announced;
    }
    const times = { now, nextUpdate: new Date(now.getTime() + intervalMs(tree)) };
    await removeOldRecords(tree, await write(tree, node, times));
    return times.nextUpdate;
  });
}

/** Keeps half of the announced time as a reserve. A time far too late comes from a wrong clock. */
export function isDue(announced: Date, tree: PublisherTree): boolean {
  const remaining = announced.getTime() - tree.now().getTime();
  return Math.abs(remaining - intervalMs(tree)) > intervalMs(tree) / 2;
}

function intervalMs({ limits }: PublisherTree): number {
  return limits.nextUpdateSeconds * 1_000;
}

async function describeNode(
  tree: PublisherTree,
  { stillNeeded, always: _, ...details }: ManifestRenewal,
  before: PublishedManifest['manifest'] | undefined,
): Promise<NodeDescription> {
  const { nodeId: id, registryName, baseUrl, key, profile } = tree;
  const indexUrls = (await findIndexNames(tree)).map((name) => indexUrl(tree, name));
  const isFormer = ({ kid }: ManifestKey) => kid !== key.recordId && (stillNeeded?.has(kid) ?? true);
  const formerKeys = before?.keys.filter(isFormer) ?? [];
  return { ...details, id, registryName, baseUrl, indexUrls, key, formerKeys, profile };
}

/** Whether the published files equal the ones to write, apart from their times. */
async function says(tree: PublisherTree, node: NodeDescription, { bytes, manifest }: PublishedManifest) {
  const times = { now: new Date(manifest.updated_at ?? 0), nextUpdate: new Date(manifest.next_update) };
  const record = buildSubscriberRecord(node, times);
  if (!buildManifest(node, record, times).equals(bytes)) return false;
  const [, ...others] = manifestPaths;
  const latest = { path: recordPath, bytes: record.bytes };
  const copies = [...others.map((path) => ({ path, bytes })), record, latest];
  const reading = copies.map(({ path }) => readFile(join(tree.root, path)).catch(() => undefined));
  const found = await Promise.all(reading);
  return copies.every((copy, index) => found[index]?.equals(copy.bytes));
}

/** Returns the path of the record in the manifest. */
async function write(tree: PublisherTree, node: NodeDescription, times: Times): Promise<string> {
  const record = buildSubscriberRecord(node, times);
  const manifest = buildManifest(node, record, times);
  await writeContent(tree, record);
  await replaceFile(tree, recordPath, record.bytes);
  for (const path of manifestPaths) await replaceFile(tree, path, manifest);
  return record.path;
}

/** Readers of an older manifest may fetch its record until that manifest expires. */
async function removeOldRecords(tree: PublisherTree, inUse: string): Promise<void> {
  const oldest = tree.now().getTime() - 2 * intervalMs(tree);
  const records = (await listFiles(tree, '')).filter((name) => isRecordPath(name) && name !== inUse);
  for (const name of records) {
    const file = join(tree.root, name);
    if ((await stat(file)).mtimeMs < oldest) await rm(file);
  }
}
