import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../command.ts';
import { pathsIn, readPlainFile } from './layout.ts';

// SHA256SUMS of a backup, in the format of sha256sum. Disks and copies lose bytes; a restore should notice that before it writes anything.

const name = 'SHA256SUMS';
/** Hexadecimal digits. */
const digestLength = 64;
const maxNamed = 3;

export async function writeChecksums(directory: string): Promise<number> {
  const { files } = await listEntries(directory);
  const lines: string[] = [];
  for (const path of files) lines.push(`${await digest(join(directory, path))}  ${path}\n`);
  await writeFile(join(directory, name), lines.join(''));
  return countBytes(directory, files);
}

/** Throws a plain sentence if a file is damaged, missing or not listed, or if the total size is too large: a truncated list must fail. */
export async function verifyChecksums(directory: string, bytes: number): Promise<void> {
  const { files, others } = await listEntries(directory);
  const apart = [name, relative(directory, pathsIn(directory).facts)];
  const present = new Set(files.filter((path) => !apart.includes(path)));
  const lines = await readLines(directory, [...present]);
  // A line is a digest, two spaces and a path. A line that is cut off before the path lists no file.
  const hasPath = (line: string) => line.length > digestLength + 2;
  const listed = new Map(
    lines.filter(hasPath).map((line) => [line.slice(digestLength + 2), line.slice(0, digestLength)]),
  );
  const broken = [
    ...(lines.every(hasPath) ? [] : [name]),
    ...[...listed.keys()].filter((path) => !present.has(path)),
    ...[...present].filter((path) => !listed.has(path)),
    ...others,
  ];
  if (broken.length === 0 && (await countBytes(directory, present)) > bytes)
    throw new CommandError(
      `${directory} is damaged: its files have more than the ${bytes} bytes that were backed up. Nothing was restored: use another backup.`,
    );
  // Checks kinds and sizes before it opens files: reading a device or a pipe may never end.
  if (broken.length === 0)
    for (const path of present)
      if ((await digest(join(directory, path)).catch(() => 'unreadable')) !== listed.get(path))
        broken.push(path);
  if (broken.length === 0) return;
  const more = broken.length > maxNamed ? ` and ${broken.length - maxNamed} more` : '';
  throw new CommandError(
    `${directory} is damaged. Missing, not listed in ${name}, not a regular file, or changed since the backup: ${broken.slice(0, maxNamed).join(', ')}${more}. Nothing was restored: use another backup.`,
  );
}

/** Tolerance for white space and for lines of lost files. */
const spareBytes = 1024 * 1024;

async function readLines(directory: string, present: readonly string[]): Promise<string[]> {
  const listBytes = present.reduce((sum, path) => sum + digestLength + 3 + Buffer.byteLength(path), 0);
  const text = await readPlainFile(join(directory, name), listBytes + spareBytes).catch((error: Error) => {
    throw new CommandError(
      `${directory} has no readable ${name}: it is not a backup, or a damaged one: ${error.message}`,
      error,
    );
  });
  return text.toString('utf8').split('\n').filter(Boolean);
}

async function listEntries(directory: string) {
  const entries = (await readdir(directory, { recursive: true, withFileTypes: true })).map((entry) => ({
    entry,
    path: relative(directory, join(entry.parentPath, entry.name)).split(sep).join('/'),
  }));
  const pathsOf = (found: typeof entries) => found.map(({ path }) => path).sort();
  return {
    files: pathsOf(entries.filter(({ entry }) => entry.isFile())),
    /** Links, pipes, devices: a backup has none. */
    others: pathsOf(entries.filter(({ entry }) => !entry.isFile() && !entry.isDirectory())),
  };
}

async function countBytes(directory: string, paths: Iterable<string>): Promise<number> {
  let bytes = 0;
  for (const path of paths) bytes += (await lstat(join(directory, path))).size;
  return bytes;
}

async function digest(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
