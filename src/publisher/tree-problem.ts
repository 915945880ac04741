import { hasCode } from '../error-code.ts';
import { LockNotFree } from '../storage/file-lock.ts';
import { DamagedIndex } from './indexes.ts';

/** Why the tree cannot be read or written, for the operator; undefined for an error that does not come from there. */
export function findTreeProblem(error: unknown): string | undefined {
  if (error instanceof DamagedIndex || error instanceof LockNotFree) return error.message;
  if (!hasCode(error, ...diskProblems)) return undefined;
  return `The published files cannot be read or written: ${error.message}.`;
}

/** What a full, broken or forbidden disk says, and one on which something else stands where a file or folder should. */
const diskProblems =
  'EACCES EDQUOT EFBIG EIO EISDIR ELOOP EMFILE ENFILE ENOSPC ENOTDIR EPERM EROFS EXDEV'.split(' ');
