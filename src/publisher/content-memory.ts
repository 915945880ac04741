import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LruCache } from '../lru-cache.ts';
import type { IndexEntry } from '../protocol/signed-files.ts';
import type { Check } from '../rules/check-attributes.ts';
import type { CatalogContent } from '../rules/self-hosted/content.ts';
import { pathOfUrl } from './paths.ts';
import { withFile } from './read-file.ts';

export type ContentMemory = ReturnType<typeof createContentMemory>;

export interface RememberedContent {
  content: CatalogContent;
  /** This checker found no fault in it. */
  checkedBy?: Check;
}

/** Unpacked size of the files: the largest that crawlers accept. In memory it is about three times as much. */
const usualMaxBytes = 100 * 1_048_576;

/** Keeps recently published content in memory, so that the next publish need not read it. It is valid only while the files are untouched. */
export function createContentMemory({ maxBytes = usualMaxBytes } = {}) {
  const kept = new LruCache<string, RememberedContent & { files: string; bytes: number }>(
    maxBytes,
    ({ bytes }) => bytes,
  );
  return {
    async find(root: string, entry: IndexEntry): Promise<RememberedContent | undefined> {
      const found = kept.find(keyOf(root, entry));
      return found?.files === textOf(await findFiles(root, entry)) ? found : undefined;
    },
    async keep(root: string, entry: IndexEntry, { content, checkedBy }: RememberedContent) {
      const key = keyOf(root, entry);
      const files = await findFiles(root, entry);
      kept.forget(key);
      if (files === undefined) return;
      const bytes = await countUnpackedBytes(root, files);
      kept.keep(key, { content, checkedBy, files: textOf(files), bytes });
    },
  };
}

function keyOf(root: string, { catalogId }: IndexEntry): string {
  return JSON.stringify([root, catalogId]);
}

/** A source file of the content, with its modification time. */
interface SourceFile {
  path: string;
  ino: number;
  size: number;
  mtimeMs: number;
}

function textOf(files: readonly SourceFile[] | undefined): string {
  return JSON.stringify(files);
}

async function findFiles(root: string, { baseline, changes }: IndexEntry): Promise<SourceFile[] | undefined> {
  if (!baseline) return undefined;
  const pending = changes.filter(({ toVersion }) => toVersion > baseline.version);
  const paths = [pathOfUrl('baseline', baseline.url), ...pending.map(({ url }) => pathOfUrl('change', url))];
  try {
    return await Promise.all(
      paths.map(async (path) => {
        const { ino, size, mtimeMs } = await stat(join(root, path));
        return { path, ino, size, mtimeMs };
      }),
    );
  } catch {
    return undefined;
  }
}

async function countUnpackedBytes(root: string, files: readonly SourceFile[]): Promise<number> {
  const counts = files.map(({ path, size }) =>
    path.endsWith('.gz') ? readLength(join(root, path), size) : size,
  );
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/** A gzip file ends with the length of its content (RFC 1952). */
async function readLength(path: string, size: number): Promise<number> {
  return withFile(path, async (file) => {
    const { buffer } = await file.read(Buffer.alloc(lengthBytes), 0, lengthBytes, size - lengthBytes);
    return buffer.readUInt32LE();
  });
}

const lengthBytes = 4;
