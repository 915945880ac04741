import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../error-code.ts';
import { readFile } from './read-file.ts';
import type { SealedFile } from './seal.ts';

// Writing so that a crash at any point leaves the last good state served: a file appears under its name only when all of it is on
// the disk, and the index, which leads to the others, comes last.

/** Where files are published, and where they are prepared: on the same file system, but out of a web server's sight. */
export interface Place {
  /** The served directory, which any static host can serve a copy of. */
  root: string;
  draftsDirectory: string;
}

export async function writeContent(place: Place, file: NewFile): Promise<void> {
  await placeContent(place, file);
  await syncFolder(place, dirname(file.path));
}

/** Writes a file under its name; it lasts once its folder is synced. A path never has two contents: the same again is fine, anything else is refused. */
export async function placeContent(place: Place, { path, bytes }: NewFile): Promise<void> {
  const target = join(place.root, path);
  const before = await findFile(target);
  if (before?.equals(bytes)) return;
  if (before) throw new Error(`${target} exists with different content.`);
  const draft = await writeDraft(place, bytes);
  await makeDirectory(dirname(target));
  await rename(draft, target);
}

type NewFile = Pick<SealedFile, 'path' | 'bytes'>;

async function findFile(target: string): Promise<Buffer | undefined> {
  try {
    return await readFile(target);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

export function syncFolder({ root }: Place, folder: string): Promise<void> {
  return syncDirectory(join(root, folder));
}

/** Puts a file that is renewed from time to time in the place of the one before. */
export async function replaceFile(place: Place, path: string, bytes: Uint8Array): Promise<void> {
  const target = join(place.root, path);
  const draft = await writeDraft(place, bytes);
  await makeDirectory(dirname(target));
  await rename(draft, target);
  await syncFolder(place, dirname(path));
}

export async function removeFile(place: Place, path: string): Promise<void> {
  await rm(join(place.root, path), { force: true });
}

/** Removes the drafts of a writer that died. The caller must hold the lock. */
export async function clearDrafts({ draftsDirectory }: Place): Promise<void> {
  await rm(draftsDirectory, { recursive: true, force: true });
}

async function writeDraft({ draftsDirectory }: Place, bytes: Uint8Array): Promise<string> {
  await mkdir(draftsDirectory, { recursive: true });
  const draft = join(draftsDirectory, randomUUID());
  const file = await open(draft, 'wx');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } catch (error) {
    // On a full disk, half a file would take the space of the next one.
    await rm(draft);
    throw error;
  } finally {
    await file.close();
  }
  return draft;
}

/** A new directory survives a crash once the one that it stands in is synced. */
async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true });
  if (first === undefined) return;
  for (let made = directory; made.length >= first.length; made = dirname(made)) {
    await syncDirectory(dirname(made));
  }
}

async function syncDirectory(directory: string): Promise<void> {
  // Windows does not open directories.
  if (process.platform === 'win32') return;
  const handle = await open(directory);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
