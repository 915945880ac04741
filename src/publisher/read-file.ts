import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

// Reads in the tree, where a file name may belong to a pipe or a device: opening that could block forever.

export async function readFile(path: string): Promise<Buffer> {
  return withFile(path, (file) => file.readFile());
}

/** Throws, like reading a directory, if the name is not a file's. */
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
