import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { IndexEntry } from '../protocol/signed-files.ts';
import type { Check } from '../rules/check-attributes.ts';
import type { CatalogContent } from '../rules/self-hosted/content.ts';
import { pathOfUrl } from './paths.ts';

/**
 * What was published lately, kept in memory, so that the next publish of a large catalog needs not read it back. It counts only as long as
 * the files themselves are untouched.
 */
export interface ContentMemory {
  find(root: string, entry: IndexEntry): Promise<RememberedContent | undefined>;
  keep(root: string, entry: IndexEntry, remembered: RememberedContent): Promise<void>;
}

export interface RememberedContent {
  content: CatalogContent;
  /** Has found nothing wrong with it. */
  checkedBy?: Check;
}

/** Of the files, as served. In memory compressed ones take some thirty times as much. */
const maxServedBytes = 10 * 1_048_576;

export function createContentMemory(): ContentMemory {
  /** The one that was published last comes last. */
  const kept = new Map<string, RememberedContent & { files: string; bytes: number }>();
  let keptBytes = 0;

  function forget(key: string): void {
    keptBytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  }

  return {
    async find(root, entry) {
      const found = kept.get(keyOf(root, entry));
      return found && found.files === (await findFiles(root, entry)) ? found : undefined;
    },
    async keep(root, entry, { content, checkedBy }) {
      const key = keyOf(root, entry);
      const files = await findFiles(root, entry);
      forget(key);
      if (files === undefined) return;
      kept.set(key, { content, checkedBy, files, bytes: servedBytes(entry) });
      keptBytes += servedBytes(entry);
      for (const oldest of kept.keys()) {
        if (keptBytes <= maxServedBytes) break;
        forget(oldest);
      }
    },
  };
}

function keyOf(root: string, { catalogId }: IndexEntry): string {
  return JSON.stringify([root, catalogId]);
}

function servedBytes({ baseline, changes }: IndexEntry): number {
  return changes.reduce((sum, { size = 0 }) => sum + size, baseline?.size ?? 0);
}

/** Which files the content comes from, and when they were written; undefined where one is missing. */
async function findFiles(root: string, { baseline, changes }: IndexEntry): Promise<string | undefined> {
  if (!baseline) return undefined;
  const pending = changes.filter(({ toVersion }) => toVersion > baseline.version);
  const paths = [pathOfUrl('baseline', baseline.url), ...pending.map(({ url }) => pathOfUrl('change', url))];
  try {
    const found = await Promise.all(paths.map((path) => stat(join(root, path))));
    return JSON.stringify(found.map(({ ino, size, mtimeMs }, index) => [paths[index], ino, size, mtimeMs]));
  } catch {
    return undefined;
  }
}
