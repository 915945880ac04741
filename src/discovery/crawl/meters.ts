import type { IndexRow } from '../../storage/crawl/indexes.ts';
import type { Fetcher } from './fetch.ts';
import { CrawlFault } from './reasons.ts';

type Metered = Pick<IndexRow, 'node_id' | 'node' | 'fetched_today'>;

/** Counts the bytes from each node, and stops when one has reached its daily limit. */
export function createMeters(fetcher: Fetcher, dailyBytes: number) {
  const counts = new Map<number, { bytes: number }>();
  return {
    of({ node_id: id, node, fetched_today: before }: Metered): Fetcher {
      const count = counts.get(id) ?? { bytes: 0 };
      counts.set(id, count);
      return {
        async fetch(url, options) {
          if (before + count.bytes >= dailyBytes) {
            throw new CrawlFault('daily-quota', `The daily limit of ${node} is reached.`, { url });
          }
          try {
            const fetched = await fetcher.fetch(url, options);
            if (fetched.kind === 'file') count.bytes += fetched.file.wire.length;
            return fetched;
          } catch (error) {
            // It was too large only after many bytes.
            if (error instanceof CrawlFault && error.code === 'too-large') count.bytes += options.maxBytes;
            throw error;
          }
        },
      };
    },
    fetched: () => [...counts].flatMap(([nodeId, { bytes }]) => (bytes > 0 ? [{ nodeId, bytes }] : [])),
  };
}
