import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Config } from '../../config.ts';
import type { Fetched, Fetcher } from '../../discovery/crawl/fetch.ts';
import { CrawlFault } from '../../discovery/crawl/reasons.ts';
import type { TreeSource } from '../../discovery/inspect/verify-node.ts';
import type { GuardedClient } from '../../http/guarded-client.ts';
import { manifestPaths } from '../../publisher/manifest.ts';
import { createChainFetcher } from '../chain-reader.ts';
import { CommandError } from '../command.ts';

// Where a published tree is read from: over HTTP, as a crawler does, or out of a directory, before it is uploaded.

/** The address of a node, or of one index. The person wrote it and `others`: these may be private ones, what they lead to elsewhere may not. */
export function httpSource(
  address: string,
  config: Config,
  client: GuardedClient,
  others: readonly string[] = [],
): TreeSource {
  const { origin, host, pathname } = new URL(address);
  const origins = [address, ...others].map((one) => new URL(one).origin);
  const inner = createChainFetcher(config, client);
  const fetcher: Fetcher = {
    fetch: (url, options) =>
      inner.fetch(url, {
        ...options,
        operatorConfigured: URL.canParse(url) && origins.includes(new URL(url).origin),
      }),
  };
  const isIndex = /\.json(\.gz)?$/.test(pathname) && !manifestPaths.some((path) => pathname.endsWith(path));
  if (isIndex) return { fetcher, host, manifestUrls: [], indexUrls: [address], isIndexOnly: true };
  return { fetcher, host, manifestUrls: manifestPaths.map((path) => `${origin}/${path}`), indexUrls: [] };
}

/** The directory that is, or will be, served; also a publisher's own, which has it in `public`. */
export async function directorySource(path: string): Promise<TreeSource> {
  const root = (await hasTree(path)) ? path : join(path, 'public');
  if (!(await hasTree(root))) {
    throw new CommandError(
      `${path} is no published tree: it has neither .well-known/dedi.index.json nor index/….index.json.`,
    );
  }
  const urlOf = (file: string) => pathToFileURL(join(root, file)).href;
  return {
    fetcher: directoryFetcher(resolve(root)),
    manifestUrls: manifestPaths.map(urlOf),
    indexUrls: (await listIndexes(root)).map((name) => urlOf(join('index', name))),
  };
}

async function hasTree(root: string): Promise<boolean> {
  const manifest = await stat(join(root, manifestPaths[0])).catch(() => undefined);
  return manifest !== undefined || (await listIndexes(root)).length > 0;
}

async function listIndexes(root: string): Promise<string[]> {
  const names = await readdir(join(root, 'index')).catch(() => []);
  return names.filter((name) => name.endsWith('.index.json')).sort();
}

function directoryFetcher(root: string): Fetcher {
  return {
    async fetch(url, { maxBytes }): Promise<Fetched> {
      const file = await findFile(root, url);
      if (file === undefined) return { kind: 'missing', status: 404 };
      const bytes = await readFile(file);
      if (bytes.length > maxBytes) {
        throw new CrawlFault('too-large', `${url} has ${bytes.length} bytes; ${maxBytes} are read.`, { url });
      }
      return { kind: 'file', file: { url, wire: bytes } };
    },
  };
}

/** The file that an address means. Which part of its path is the base of the tree is not known: the longest end that is a file is taken. */
async function findFile(root: string, url: string): Promise<string | undefined> {
  if (!URL.canParse(url)) throw new CrawlFault('bad-url', `"${url}" is not a URL.`, { url });
  const isInside = (file: string) => !relative(root, file).startsWith('..');
  if (url.startsWith('file:')) return existing([pathOf(url)].filter(isInside));
  const segments = new URL(url).pathname.split('/').slice(1).map(decodeSegment);
  const ends = segments.map((_, index) => join(root, ...segments.slice(index)));
  return existing(ends.filter(isInside));
}

/** An address of a file may name another machine, or a name that no file has. */
function pathOf(url: string): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw new CrawlFault('bad-url', `"${url}" is no file of this machine.`, { url, cause });
  }
}

async function existing(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    const found = await stat(file).catch(() => undefined);
    if (found?.isFile()) return file;
  }
  return undefined;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
