import { setTimeout as delay } from 'node:timers/promises';
import { startCrawl } from '../../console/crawl-now.ts';
import { identityOf } from '../../protocol/identity.ts';
import { readLog } from '../../storage/crawl/log.ts';
import { isCrawled, listCrawledCatalogs, readClock } from '../../storage/crawl/status.ts';
import { act } from '../acting.ts';
import { type CommandContext, CommandError } from '../command.ts';
import { renderCatalogs, renderLine } from './report.ts';

// `signpost crawl now`: makes everything of a node due, and waits until the running crawler has done it.

const pollMs = 100;
const shownLines = 20;

export async function crawlNodeNow(
  context: CommandContext,
  node: string,
  { timeoutMs, json }: { timeoutMs: number; json?: boolean },
): Promise<void> {
  await act(context, `See why: signpost doctor ${node}`, async (acting, { REGISTRY_NAME }) => {
    const { database } = acting;
    const identity = identityOf(node, REGISTRY_NAME);
    const until = waitUntil(Date.now() + timeoutMs);
    const askedAt = await readClock(database);
    await startCrawl(acting, acting.by, identity, until);
    await until(() => isCrawled(database, identity));
    const { lines } = await readLog(database, { node: identity, limit: shownLines, offset: 0 });
    const told = lines.filter(({ at }) => at >= askedAt);
    const catalogs = await listCrawledCatalogs(database, identity);
    if (json) return context.print(JSON.stringify({ node: identity, catalogs, log: told }, null, 2));
    context.print(
      catalogs.length > 0
        ? renderCatalogs(catalogs, new Date())
        : `${identity} hosts nothing that can be read.`,
    );
    if (told.length > 0) context.print(`\n${told.map(renderLine).join('\n')}`);
  });
}

function waitUntil(end: number): (holds: () => Promise<boolean>) => Promise<void> {
  return async (holds) => {
    while (!(await holds())) {
      if (Date.now() > end)
        throw new CommandError('Nobody has crawled it in time. Is the discovery service running?');
      await delay(pollMs);
    }
  };
}
