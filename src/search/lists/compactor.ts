import { repeat } from '../../delivery/repeat.ts';
import type { ServiceContext } from '../../delivery/service.ts';
import { takeListsInPieces } from '../cache/caches.ts';
import { mergeRuns } from './compact.ts';

const intervalMs = 1_000;

/** Puts together, by and by, the lists of the index that searches of this process found in many pieces. */
export function startListMerger({ database, logger }: Pick<ServiceContext, 'database' | 'logger'>): {
  close(): Promise<void>;
} {
  const stop = new AbortController();
  const work = repeat(
    { what: 'putting lists of the index together', everyMs: intervalMs, logger },
    async () => {
      for (const list of takeListsInPieces(database)) await mergeRuns(database, list, stop.signal);
    },
  );
  return {
    async close() {
      stop.abort();
      await work.close();
    },
  };
}
