import { lstat, readFile } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Config } from '../../config.ts';
import { isJsonObject, parseIfJson } from '../../protocol/json.ts';
import { CommandError } from '../command.ts';

// The files of a backup:
//
//   backup.json     when it was made, and of what; written last, so that a backup without it is none
//   SHA256SUMS      of all files that follow
//   database.dump   by pg_dump, in its custom format
//   data/           DATA_DIR without the embedded database and locks
//   publisher/      PUBLISHER_DIR, where it is not under DATA_DIR

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
    /** Total size of the files in SHA256SUMS; older backups do not have it. */
    bytes: typeof facts.bytes === 'number' ? facts.bytes : Number.POSITIVE_INFINITY,
  };
}

const maxFactsBytes = 64 * 1024;

/** A file of a backup that somebody may have put there: no link, no pipe and no device, which may never end, and not larger than it can be. */
export async function readPlainFile(file: string, maxBytes: number): Promise<Buffer> {
  const found = await lstat(file);
  if (!found.isFile()) throw new Error(`${file} is not a regular file.`);
  if (found.size > maxBytes) throw new Error(`${file} has more than ${maxBytes} bytes.`);
  return readFile(file);
}

export function isInside({ DATA_DIR, publisherDir }: Config): boolean {
  return isUnder(resolve(DATA_DIR), resolve(publisherDir));
}

/** Whether a path is the parent itself or lies below it, by their names. A child may be called `..data`. */
export function isUnder(parent: string, path: string): boolean {
  const way = relative(parent, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
