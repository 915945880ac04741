import { hasCode } from '../error-code.ts';
import { LockNotFree } from '../storage/file-lock.ts';
import { DamagedIndex } from './indexes.ts';

/** Why the tree cannot be read or written, for the operator; undefined for an error that does not come from there. */
export function findTreeProblem(error: unknown): string | undefined {
  if (error instanceof DamagedIndex || error instanceof LockNotFree) return error.message;
  if (!hasCode(error, ...diskProblems)) return undefined;
  return `The published files cannot be read or written: ${error.message}.`;
}

/** Error codes of a full, broken or forbidden disk, or of a file where a folder should be and the reverse. */
const diskProblems =
  'EACCES EDQUOT EFBIG EIO EISDIR ELOOP EMFILE ENFILE ENOSPC ENOTDIR EPERM EROFS EXDEV'.split(' ');
