import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../storage/database.ts';
import { keyOf, rangeOf } from '../keys.ts';
import type { CheckOptions } from './check.ts';
import type { Feed } from './feed.ts';

// Manual maintenance of the index in OpenSearch, with or without processes that feed it.

/** Counting takes time: progress is told at these intervals. */
const [lookAgainMs, countEveryMs] = [100, 5_000];
/** Parts that differ are compared again, this many times in all: what is not fed yet is no difference. */
const [looksAgain, looksEachMs] = [30, 1_000];

type Built = { catalogs: number; documents: number };

/** Builds another index, and switches searches to it. */
export async function rebuildFed(feed: Feed, database: Database, onProgress?: (done: Built) => void) {
  await feed.beginRebuild();
  for (let countedAt = performance.now(); ; ) {
    const isBusy = await feed.round();
    const progress = await feed.progress();
    if (!progress.isBuilding) break;
    if (!isBusy) await delay(lookAgainMs);
    if (performance.now() - countedAt < countEveryMs) continue;
    onProgress?.(await countUpTo(database, progress.walkedUpTo));
    countedAt = performance.now();
  }
  return countUpTo(database, Number.MAX_SAFE_INTEGER);
}

function countUpTo(database: Database, key: number): Promise<Built> {
  return database.one(
    `select (select count(*) from discovery.catalog where provider_id <> '' and key << 26 < $1::bigint) as catalogs,
       (select count(*) from discovery.resource where key < $1) + (select count(*) from discovery.offer where key < $1) as documents`,
    [key],
  );
}

/** Compares every document with the searched index. */
export async function checkFed(feed: Feed, { mend = false, onDifference, catalogKeys }: CheckOptions) {
  const checked = { documents: 0, differences: 0 };
  let looks = looksAgain;
  for (const { from: first, end } of catalogKeys?.map(rangeOf) ?? [{ from: 0, end: keyOf(2 ** 27, 0) }])
    for (let from: number | undefined = first; from !== undefined; ) {
      let part = await feed.compare({ from, end }, { mend });
      while (!mend && part.differences.length > 0 && looks-- > 0) {
        await delay(looksEachMs);
        part = await feed.compare({ from, end }, { mend });
      }
      checked.documents += part.documents;
      checked.differences += part.differences.length;
      for (const { key, make } of part.differences) {
        const kind = make ? 'missing' : 'surplus';
        onDifference({ what: 'document', kind, key, generation: 0, name: 'in OpenSearch' });
      }
      from = part.next;
    }
  return { ...checked, mended: mend ? checked.differences : 0 };
}
