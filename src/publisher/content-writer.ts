import { dirname } from 'node:path';
import type { SealedFile } from './seal.ts';
import { type Place, placeContent, syncFolder } from './write.ts';

/** Writes content files, several at a time: a disk that is asked for many syncs at once takes hardly longer than for one. */
export interface ContentWriter {
  /** Resolves when the file has its turn, not when it is written. */
  add(file: SealedFile): Promise<void>;
  /** Resolves when everything is written, however that ended. */
  settle(): Promise<void>;
  /** Resolves when everything will last; throws what went wrong. */
  finish(): Promise<void>;
}

const maxAtOnce = 8;

export function createContentWriter(place: Place): ContentWriter {
  const writing = new Set<Promise<void>>();
  const folders = new Set<string>();
  const failures: unknown[] = [];

  async function settle(): Promise<void> {
    await Promise.all(writing);
  }

  return {
    async add(file) {
      while (writing.size >= maxAtOnce) await Promise.race(writing);
      const one: Promise<void> = placeContent(place, file)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => writing.delete(one));
      writing.add(one);
      folders.add(dirname(file.path));
    },
    settle,
    async finish() {
      await settle();
      if (failures.length > 0) throw failures[0];
      for (const folder of folders) await syncFolder(place, folder);
    },
  };
}
