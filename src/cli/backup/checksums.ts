import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../command.ts';
import { pathsIn } from './layout.ts';

// SHA256SUMS of a backup, as sha256sum writes and checks it: disks and copies lose bytes, and a restore should find out before it writes anything.

const name = 'SHA256SUMS';
/** In hexadecimal digits. */
const digestLength = 64;
/** Named in the message. */
const maxNamed = 3;

export async function writeChecksums(directory: string): Promise<void> {
  const lines: string[] = [];
  for (const path of await listFiles(directory))
    lines.push(`${await digest(join(directory, path))}  ${path}\n`);
  await writeFile(join(directory, name), lines.join(''));
}

/** Throws a plain sentence where a file is damaged, missing or not listed: a list that was cut off does not pass. */
export async function verifyChecksums(directory: string): Promise<void> {
  const text = await readFile(join(directory, name), 'utf8').catch((error: Error) => {
    throw new CommandError(`${directory} has no ${name}: it is no backup, or one that lost files.`, error);
  });
  const lines = text.split('\n').filter(Boolean);
  // A line is a digest, two spaces and a path: one that was cut off before its path lists no file.
  const hasPath = (line: string) => line.length > digestLength + 2;
  const listed = new Map(
    lines.filter(hasPath).map((line) => [line.slice(digestLength + 2), line.slice(0, digestLength)]),
  );
  const apart = [join(directory, name), pathsIn(directory).facts];
  const present = (await listFiles(directory)).filter((path) => !apart.includes(join(directory, path)));
  const broken = lines.every(hasPath) ? [] : [name];
  for (const path of new Set([...listed.keys(), ...present]))
    if ((await digest(join(directory, path)).catch(() => 'missing')) !== listed.get(path)) broken.push(path);
  if (broken.length === 0) return;
  const others = broken.length > maxNamed ? ` and ${broken.length - maxNamed} more` : '';
  throw new CommandError(
    `${directory} is damaged. Missing, not listed in ${name}, or other than what was backed up: ${broken.slice(0, maxNamed).join(', ')}${others}. Nothing was restored: take another backup.`,
  );
}

async function listFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

async function digest(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
