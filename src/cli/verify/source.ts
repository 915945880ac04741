import { join } from 'node:path';
import type { Config } from '../../config.ts';
import type { Fetcher } from '../../discovery/crawl/fetch.ts';
import { CrawlFault } from '../../discovery/crawl/reasons.ts';
import { hasTree, openDirectory } from '../../discovery/inspect/tree-directory.ts';
import type { TreeSource } from '../../discovery/inspect/verify-node.ts';
import type { GuardedClient } from '../../http/guarded-client.ts';
import { manifestPaths } from '../../protocol/endpoints.ts';
import { createChainFetcher } from '../chain-reader.ts';
import { CommandError } from '../command.ts';

// Sources of a published tree: over HTTP, like a crawler, or a directory, before it is uploaded.

export interface FileSource extends TreeSource {
  fetcher: Fetcher;
}

/** The address of a node or of one index. The user typed it and `others`, so these may be private addresses; other addresses in the files may not. */
export function httpSource(
  address: string,
  config: Config,
  client: GuardedClient,
  others: readonly string[] = [],
): FileSource {
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

/** The served directory, or a publisher's own, which has it in `public`. */
export async function directorySource(path: string): Promise<FileSource> {
  const root = (await hasTree(path)) ? path : join(path, 'public');
  if (!(await hasTree(root))) {
    throw new CommandError(
      `${path} is not a published tree: it has neither .well-known/dedi.index.json nor index/….index.json.`,
    );
  }
  const { read, ...urls } = await openDirectory(root);
  const fetcher: Fetcher = {
    async fetch(url, { maxBytes }) {
      const wire = await read(url);
      if (wire === undefined) return { kind: 'missing', status: 404 };
      if (wire.length <= maxBytes) return { kind: 'file', file: { url, wire } };
      throw new CrawlFault('too-large', `${url} has ${wire.length} bytes; at most ${maxBytes} are read.`, {
        url,
      });
    },
  };
  return { ...urls, fetcher };
}
