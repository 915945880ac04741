import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../error-code.ts';
import { readFile } from './read-file.ts';
import type { SealedFile } from './seal.ts';

// Writes crash-safely, so that the last good state is always served: a file appears under its name only when all of it is on
// the disk, and the index, which refers to the others, comes last.

/** The folders for published files and for drafts: on the same file system, but drafts are outside the web root. */
export interface Place {
  /** The served directory; static hosts can serve a copy of it. */
  root: string;
  draftsDirectory: string;
}

export async function writeContent(place: Place, file: NewFile): Promise<void> {
  await placeContent(place, file);
  await syncFolder(place, dirname(file.path));
}

/** Writes a file under its name; it is durable once its folder is synced. Equal content is accepted again; other content is refused. */
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

/** Replaces a file that is renewed from time to time. */
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
    // On a full disk, half a file would use the space of the next one.
    await rm(draft);
    throw error;
  } finally {
    await file.close();
  }
  return draft;
}

/** A new directory is durable once its parent is synced. */
async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true });
  if (first === undefined) return;
  for (let made = directory; made.length >= first.length; made = dirname(made))
    await syncDirectory(dirname(made));
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
