import { hasCode } from '../error-code.ts';
import { LockNotFree } from '../storage/file-lock.ts';
import { DamagedIndex } from './indexes.ts';

/** The reason why the tree cannot be read or written, for the operator; undefined for errors from elsewhere. */
export function findTreeProblem(error: unknown): string | undefined {
  if (error instanceof DamagedIndex || error instanceof LockNotFree) return error.message;
  if (!hasCode(error, ...diskProblems)) return undefined;
  return `The published files cannot be read or written: ${error.message}.`;
}

/** Error codes of a full, broken or forbidden disk, or of a file instead of a folder and the reverse. */
const diskProblems =
  'EACCES EDQUOT EFBIG EIO EISDIR ELOOP EMFILE ENFILE ENOSPC ENOTDIR EPERM EROFS EXDEV'.split(' ');
