import { join, resolve } from 'node:path';

// Real data and full suites of public test vectors are no part of the project: TEST_DATA_DIR names the directory that has them (CONTRIBUTING.md). A
// test that wants one skips, saying so by its name, where it is absent.

const directory = resolve(process.env.TEST_DATA_DIR || '../shared/data');

/** @param path below that directory */
export function dataFile(path: string): string {
  return join(directory, path);
}
