import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../command.ts';

// SHA256SUMS of a backup, as sha256sum writes and checks it: disks and copies lose bytes, and a restore should find out before it writes anything.

const name = 'SHA256SUMS';
/** Named in the message. */
const maxNamed = 3;

export async function writeChecksums(directory: string): Promise<void> {
  const lines: string[] = [];
  for (const path of await listFiles(directory))
    lines.push(`${await digest(join(directory, path))}  ${path}\n`);
  await writeFile(join(directory, name), lines.join(''));
}

/** Throws a plain sentence where a file is damaged or missing. */
export async function verifyChecksums(directory: string): Promise<void> {
  const text = await readFile(join(directory, name), 'utf8').catch((error: Error) => {
    throw new CommandError(`${directory} has no ${name}: it is no backup, or one that lost files.`, error);
  });
  const broken: string[] = [];
  for (const line of text.split('\n').slice(0, -1)) {
    const [expected, path] = [line.slice(0, 64), line.slice(66)];
    if ((await digest(join(directory, path)).catch(() => 'missing')) !== expected) broken.push(path);
  }
  if (broken.length === 0) return;
  const others = broken.length > maxNamed ? ` and ${broken.length - maxNamed} more` : '';
  throw new CommandError(
    `${directory} is damaged. Missing, or other than what was backed up: ${broken.slice(0, maxNamed).join(', ')}${others} ("sha256sum --check ${name}" lists all). Nothing was restored: take another backup.`,
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
