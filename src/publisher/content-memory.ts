import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { IndexEntry } from '../protocol/signed-files.ts';
import type { Check } from '../rules/check-attributes.ts';
import type { CatalogContent } from '../rules/self-hosted/content.ts';
import { pathOfUrl } from './paths.ts';
import { withFile } from './read-file.ts';

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

/** Of the files, unpacked: as much as the largest that crawlers take. In memory it is some three times as much. */
const usualMaxBytes = 100 * 1_048_576;

export function createContentMemory({ maxBytes = usualMaxBytes } = {}): ContentMemory {
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
      return found?.files === textOf(await findFiles(root, entry)) ? found : undefined;
    },
    async keep(root, entry, { content, checkedBy }) {
      const key = keyOf(root, entry);
      const files = await findFiles(root, entry);
      forget(key);
      if (files === undefined) return;
      const bytes = await countUnpackedBytes(root, files);
      kept.set(key, { content, checkedBy, files: textOf(files), bytes });
      keptBytes += bytes;
      for (const oldest of kept.keys()) {
        if (keptBytes <= maxBytes) break;
        forget(oldest);
      }
    },
  };
}

function keyOf(root: string, { catalogId }: IndexEntry): string {
  return JSON.stringify([root, catalogId]);
}

/** A file that the content comes from, and when it was written. */
interface SourceFile {
  path: string;
  ino: number;
  size: number;
  mtimeMs: number;
}

function textOf(files: readonly SourceFile[] | undefined): string {
  return JSON.stringify(files);
}

/** Undefined where one is missing. */
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

/** A gzip file ends with the number of bytes that it holds (RFC 1952). */
async function readLength(path: string, size: number): Promise<number> {
  return withFile(path, async (file) => {
    const { buffer } = await file.read(Buffer.alloc(lengthBytes), 0, lengthBytes, size - lengthBytes);
    return buffer.readUInt32LE();
  });
}

const lengthBytes = 4;
