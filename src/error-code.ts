/** Whether an error of Node, of a file, a socket or a compressor, has one of these codes (ENOENT). */
export function hasCode(error: unknown, ...codes: readonly string[]): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
