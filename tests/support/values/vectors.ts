import { existsSync, readFileSync } from 'node:fs';
import { dataFile } from '../catalogs/data-dir.ts';

export function readVectors<T>(path: string): T | undefined {
  const text = readVectorText(path);
  return text === undefined ? undefined : JSON.parse(text);
}

export function readVectorText(path: string): string | undefined {
  const file = dataFile(`vectors/${path}`);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
