import { lstat, readFile } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Config } from '../../config.ts';
import { isJsonObject, parseIfJson } from '../../protocol/json.ts';
import { CommandError } from '../command.ts';

// The files of a backup:
//
//   backup.json     time and facts of the backup; written last, so that a directory without it is not a backup
//   SHA256SUMS      of all following files
//   database.dump   by pg_dump, in its custom format
//   data/           DATA_DIR without the embedded database and locks
//   publisher/      PUBLISHER_DIR, unless it is under DATA_DIR

export type BackupFacts = Awaited<ReturnType<typeof readFacts>>;

export function pathsIn(directory: string) {
  return {
    facts: join(directory, 'backup.json'),
    dump: join(directory, 'database.dump'),
    data: join(directory, 'data'),
    publisher: join(directory, 'publisher'),
  };
}

export async function readFacts(directory: string) {
  const text = await readPlainFile(pathsIn(directory).facts, maxFactsBytes).catch((error: Error) => {
    throw new CommandError(`${directory} is not a complete backup: it has no readable backup.json.`, error);
  });
  const facts = parseIfJson(text);
  if (!isJsonObject(facts) || typeof facts.madeAt !== 'string')
    throw new CommandError(
      `${directory}/backup.json was not written by "signpost backup": use another backup.`,
    );
  return {
    madeAt: facts.madeAt,
    version: String(facts.version),
    hasDatabase: facts.hasDatabase === true,
    hasPublisher: facts.hasPublisher === true,
    /** Total size of the files in SHA256SUMS; older backups lack it. */
    bytes: typeof facts.bytes === 'number' ? facts.bytes : Number.POSITIVE_INFINITY,
  };
}

const maxFactsBytes = 64 * 1024;

/** Reads a file of a backup that may be forged: it refuses links, pipes and devices, which may never end, and files above the size limit. */
export async function readPlainFile(file: string, maxBytes: number): Promise<Buffer> {
  const found = await lstat(file);
  if (!found.isFile()) throw new Error(`${file} is not a regular file.`);
  if (found.size > maxBytes) throw new Error(`${file} has more than ${maxBytes} bytes.`);
  return readFile(file);
}

export function isInside({ DATA_DIR, publisherDir }: Config): boolean {
  return isUnder(resolve(DATA_DIR), resolve(publisherDir));
}

/** Whether a path is the parent or below it, by name. A child may be called `..data`. */
export function isUnder(parent: string, path: string): boolean {
  const way = relative(parent, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
