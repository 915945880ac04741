import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

// Reading in the tree, where somebody may have put a pipe or a device under the name of a file: who opened that would wait for ever.

export async function readFile(path: string): Promise<Buffer> {
  return withFile(path, (file) => file.readFile());
}

/** Throws, as reading a directory does, where something else than a file has the name. */
export async function withFile<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (!(await file.stat()).isFile())
      throw Object.assign(new Error(`${path} is not a file`), { code: 'EISDIR' });
    return await work(file);
  } finally {
    await file.close();
  }
}
