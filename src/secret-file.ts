import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { hasCode } from './error-code.ts';

// Secrets that a process makes at its first start and keeps in a file that its owner alone can read.

/** The trimmed text of a file; undefined where there is none. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Written whole under another name and then linked: processes that start at the same moment agree on one secret. */
export function createSecret(file: string, secret: string): string {
  // Threads share a process id, and so may containers that share a directory.
  const draft = `${file}.${randomUUID()}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, `${secret}\n`);
    // A power failure must not leave the name of a file without its content.
    fsyncSync(descriptor);
    linkSync(draft, file);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    closeSync(descriptor);
    unlinkSync(draft);
  }
  return readFileSync(file, 'utf8').trim();
}

const tokenBytes = 32;
const minTokenLength = 16;

/** The bearer token that a file holds, made at first use. */
export function loadOrCreateToken(file: string) {
  mkdirSync(dirname(file), { recursive: true });
  const known = readIfThere(file);
  const made = newToken();
  const token = known ?? createSecret(file, made);
  if (token.length < minTokenLength)
    throw new Error(`${file} has no token: remove it, and a new one will be created.`);
  chmodSync(file, 0o600); // a copy or a backup may have opened it
  return { token, isNew: token === made };
}

export function newToken(): string {
  return randomBytes(tokenBytes).toString('base64url');
}

/** Compares digests, which have one length, so that the comparison takes the same time whatever is given. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(hashSecret(given), hashSecret(expected));
}

/** Enough for secrets that are random: nobody can guess what a hash was made from. */
export function hashSecret(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
