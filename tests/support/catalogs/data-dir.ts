import { join, resolve } from 'node:path';

// Real data and full suites of public test vectors are not part of the project: TEST_DATA_DIR names a directory with them (CONTRIBUTING.md). Tests
// that need one are skipped without it, and say so in their names.

const directory = resolve(process.env.TEST_DATA_DIR || '../shared/data');

/** @param path below that directory */
export function dataFile(path: string): string {
  return join(directory, path);
}
