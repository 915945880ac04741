import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
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
  const draft = `${file}.${process.pid}`;
  const descriptor = openSync(draft, 'w', 0o600);
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
