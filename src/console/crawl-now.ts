import type { Actor } from '../storage/console/audit.ts';
import { crawlNow, enumerateNow } from '../storage/crawl/hints.ts';
import { isEnumerated } from '../storage/crawl/status.ts';
import type { Database } from '../storage/database.ts';
import { type AuditTools, audited } from './audited.ts';
import { notFound } from './errors.ts';

/** Makes everything of a node due for the crawler. A node that nobody has named yet may have joined a network, so the networks are asked first. `until` waits, and throws when that takes too long. */
export async function startCrawl(
  tools: AuditTools & { database: Database },
  by: Actor,
  node: string,
  until: (holds: () => Promise<boolean>) => Promise<void>,
): Promise<void> {
  const { database } = tools;
  const wake = () => database.transaction((tx) => crawlNow(tx, node));
  await audited(tools, by, { action: 'crawl.now', target: node }, async () => {
    if (await wake()) return;
    await database.transaction(enumerateNow);
    await until(() => isEnumerated(database));
    if (await wake()) return;
    throw notFound(
      `${node} is not crawled here: neither DISCOVERY_NODES nor a network of DISCOVERY_NETWORKS names it.`,
      'Inspect it: the chain shows where it breaks.',
    );
  });
}
