import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { builtFiles } from '../support/processes/embedded-process.ts';

it.each([
  ['the page of the console', 500_000, (path: string) => !path.includes('docs-viewer'), 'index.html'],
  // Other pages, and the vector tiles of MAP_TILES, are loaded on demand.
  [
    'the first load of the console',
    300_000,
    (path: string) => !/docs-viewer|(inspect|publish|debug|network|health)-page|esm-/.test(path),
    'index.html',
  ],
  ['the API page', 500_000, (path: string) => path.includes('docs-viewer'), 'swagger-ui-bundle.js'],
] as const)(
  '%s has at most %i bytes in all its files together, gzipped',
  async (_, maxBytes, isPart, start) => {
    const web = join(builtFiles, 'web');
    const entries = await readdir(web, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.gz'))
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter(isPart);
    expect(files.some((file) => file.endsWith(start))).toBe(true);
    const sizes = await Promise.all(files.map(async (file) => gzipSync(await readFile(file)).length));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(maxBytes);
  },
);
