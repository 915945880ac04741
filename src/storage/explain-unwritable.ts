import { hasCode } from '../error-code.ts';

/** Why a directory below DATA_DIR cannot be written to, as one sentence for the person who started the process. */
export function explainUnwritable(directory: string, error: unknown): string {
  return hasCode(error, 'EACCES', 'EPERM')
    ? `${directory} belongs to another user: start signpost as that user, or set another DATA_DIR.`
    : `Cannot write to ${directory}: ${error instanceof Error ? error.message : error}. Set another DATA_DIR.`;
}
