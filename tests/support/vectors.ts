import { existsSync, readFileSync } from 'node:fs';

/**
 * Full suites of public test vectors may lie beside the project, in `../shared/data/vectors`. They are no part of it: a
 * test that wants one skips, saying so by its name, where it is absent.
 */
const vectors = new URL('../../../shared/data/vectors/', import.meta.url);

export function readVectors<T>(path: string): T | undefined {
  const file = new URL(path, vectors);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

export function readVectorText(path: string): string | undefined {
  const file = new URL(path, vectors);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
