import { crawlNow, enumerateNow } from '../storage/crawl/hints.ts';
import { isEnumerated } from '../storage/crawl/status.ts';
import type { Database } from '../storage/database.ts';

/**
 * Makes everything of a node due, for the running crawler. A node that nobody has named yet may have joined a network meanwhile, so the networks are asked
 * first. Returns whether it is crawled here at all.
 *
 * @param until waits until something holds, and throws where that takes too long
 */
export async function startCrawl(
  database: Database,
  node: string,
  until: (holds: () => Promise<boolean>) => Promise<void>,
): Promise<boolean> {
  const wake = () => database.transaction((tx) => crawlNow(tx, node));
  if (await wake()) return true;
  await database.transaction(enumerateNow);
  await until(() => isEnumerated(database));
  return wake();
}
