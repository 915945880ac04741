import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { attempt } from '../../attempt.ts';
import { manifestPaths } from '../../protocol/endpoints.ts';
import { CrawlFault } from '../crawl/reasons.ts';

// Published files in a directory, before they are uploaded.

export async function hasTree(root: string): Promise<boolean> {
  const manifest = await stat(join(root, manifestPaths[0])).catch(() => undefined);
  return manifest !== undefined || (await listIndexes(root)).length > 0;
}

export async function openDirectory(root: string) {
  const urlOf = (file: string) => pathToFileURL(join(root, file)).href;
  return {
    manifestUrls: manifestPaths.map(urlOf),
    indexUrls: (await listIndexes(root)).map((name) => urlOf(join('index', name))),
    async read(url: string): Promise<Buffer | undefined> {
      const file = await findFile(resolve(root), url);
      return file === undefined ? undefined : readFile(file);
    },
  };
}

async function listIndexes(root: string): Promise<string[]> {
  const names = await readdir(join(root, 'index')).catch(() => []);
  return names.filter((name) => name.endsWith('.index.json')).sort();
}

/** The file of an address. The base of the tree is unknown, so the longest end of the path that is a file counts. */
async function findFile(root: string, url: string): Promise<string | undefined> {
  if (!URL.canParse(url)) throw new CrawlFault('bad-url', `"${url}" is not a URL.`, { url });
  const isInside = (file: string) => !relative(root, file).startsWith('..');
  if (url.startsWith('file:')) return existing([pathOf(url)].filter(isInside));
  const segments = new URL(url).pathname
    .split('/')
    .slice(1)
    .map((segment) => attempt(() => decodeURIComponent(segment)) ?? segment);
  const ends = segments.map((_, index) => join(root, ...segments.slice(index)));
  return existing(ends.filter(isInside));
}

/** A file URL may name another machine, or an impossible name. */
function pathOf(url: string): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw new CrawlFault('bad-url', `"${url}" is not a file of this machine.`, { url, cause });
  }
}

async function existing(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    const found = await stat(file).catch(() => undefined);
    if (found?.isFile()) return file;
  }
  return undefined;
}
