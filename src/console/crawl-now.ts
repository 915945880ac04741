import type { Actor } from '../storage/console/audit.ts';
import { crawlNow, enumerateNow } from '../storage/crawl/hints.ts';
import { isEnumerated } from '../storage/crawl/status.ts';
import type { Database } from '../storage/database.ts';
import { type AuditTools, audited } from './audited.ts';
import { notFound } from './errors.ts';

/** Makes all work of a node due. Networks are crawled first, because a new node may have joined one. `until` waits, and throws after a timeout. */
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
