import type { Fetcher, FetchOptions } from '../discovery/crawl/fetch.ts';
import { complaint, type Finding } from '../discovery/inspect/findings.ts';
import type { NodeCheck } from '../discovery/inspect/verify-node.ts';
import { verifyTree } from '../discovery/inspect/verify-tree.ts';
import type { JsonObject } from '../protocol/json.ts';
import { CheckSkipped, memoize } from './check.ts';

// A published tree, read once like a crawler: manifest, Subscriber record, indexes, entries, files. Checks examine the findings.

export type TreeScene = ReturnType<typeof createTreeScene>;

interface Files extends FetchOptions {
  fetcher: Fetcher;
}

/** @param isPlainHttp the given address has the scheme http, which trees in development use */
export function createTreeScene(check: NodeCheck, files: Files, isPlainHttp: boolean) {
  async function readAgain(url: string): Promise<JsonObject | undefined> {
    const file = await check.reader.open('index', url).catch(() => undefined);
    return file?.opened.document;
  }

  const findings = memoize(async () => {
    const found: Finding[] = [];
    for await (const finding of verifyTree(check)) found.push(finding, ...unsigned(finding));
    return found;
  });

  return {
    ...{ files, isPlainHttp, findings, readAgain },
    indexes: memoize(async () => {
      const isIndex = ({ document, kind }: Finding) => document === 'index' && kind === 'holds';
      const held = (await findings()).filter(isIndex);
      const urls = [...new Set(held.flatMap(({ url }) => (url === undefined ? [] : [url])))];
      const read = await Promise.all(urls.map(async (url) => ({ url, document: await readAgain(url) })));
      const indexes = read.flatMap(({ url, document }) => (document ? [{ url, document }] : []));
      if (indexes.length === 0) throw new CheckSkipped('no index could be read');
      return indexes;
    }),
  };
}

/** Reports the missing signature as one fault. The index is still read, so that its entries are checked. */
function unsigned({ kind, document, url, key }: Finding): Finding[] {
  if (document !== 'index' || kind !== 'holds' || key !== undefined) return [];
  return [complaint('fault', { document, url }, 'signature-missing', 'The index has no signature.')];
}
