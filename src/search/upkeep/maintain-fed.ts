import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../storage/database.ts';
import { keyOf, rangeOf } from '../keys.ts';
import type { Checked, CheckOptions } from './check.ts';
import type { Feed } from './feed.ts';

// Manual maintenance of the index in OpenSearch, with or without processes that feed it.

const lookAgainMs = 100;

type Built = { catalogs: number; documents: number };

/** Builds another index, and switches searches to it. */
export async function rebuildFed(feed: Feed, database: Database, onProgress?: (done: Built) => void) {
  await feed.beginRebuild();
  for (;;) {
    const isBusy = await feed.round();
    const progress = await feed.progress();
    if (!progress.isBuilding) break;
    onProgress?.(await countUpTo(database, progress.walkedUpTo));
    if (!isBusy) await delay(lookAgainMs);
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
  const checked: Checked = { documents: 0, differences: 0, mended: 0 };
  for (const { from: first, end } of catalogKeys?.map(rangeOf) ?? [{ from: 0, end: keyOf(2 ** 27, 0) }])
    for (let from: number | undefined = first; from !== undefined; ) {
      const part = await feed.compare({ from, end }, { mend });
      checked.documents += part.documents;
      checked.differences += part.differences.length;
      if (mend) checked.mended += part.differences.length;
      for (const { key, document } of part.differences) {
        const kind = document ? 'missing' : 'surplus';
        onDifference({ what: 'document', kind, key, generation: 0, name: 'in OpenSearch' });
      }
      from = part.next;
    }
  return checked;
}
