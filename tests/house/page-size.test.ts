import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { builtFiles } from '../support/processes/embedded-process.ts';

const maxBytes = 500_000;

it.each([
  ['the page of the console', (path: string) => !path.includes('docs-viewer'), 'index.html'],
  ['the API page', (path: string) => path.includes('docs-viewer'), 'swagger-ui-bundle.js'],
] as const)(
  '%s has at most 500 kB in all its files together, gzipped, and so has any first load',
  async (_, isPart, start) => {
    const web = join(builtFiles, 'web');
    const entries = await readdir(web, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile() && isPart(entry.parentPath))
      .map(({ parentPath, name }) => join(parentPath, name));
    expect(files.some((file) => file.endsWith(start))).toBe(true);
    const sizes = await Promise.all(files.map(async (file) => gzipSync(await readFile(file)).length));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(maxBytes);
  },
);
