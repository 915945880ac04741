/** Whether an error of Node (of a file, a socket, a compressor) or of PostgreSQL has one of these codes (ENOENT, 55P03). */
export function hasCode(error: unknown, ...codes: readonly string[]): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
