import { setTimeout as delay } from 'node:timers/promises';
import { startCrawl } from '../console/crawl-now.ts';
import { identityOf } from '../protocol/identity.ts';
import { readLog } from '../storage/crawl/log.ts';
import {
  findLastLook,
  findNextWork,
  isCrawled,
  listCrawledCatalogs,
  readClock,
  readCrawlStatus,
} from '../storage/crawl/status.ts';
import type { Database } from '../storage/database.ts';
import { parseCount, parseOffset, parseSubscriber } from './arguments.ts';
import { type CommandContext, CommandError, printResult, type Register } from './command.ts';
import { renderCatalogs, renderLine, renderNext, renderStatus, whenText } from './crawl/report.ts';
import { act, withDatabase } from './database.ts';

export const register: Register = (program, context) => {
  const crawl = program.command('crawl').addHelpText('after', examples);

  crawl
    .command('status')
    .description('show the nodes that the crawler reads, the states of their catalogs, and the next work')
    .option('--node <subscriber>', 'the catalogs of this node, one by one', parseSubscriber)
    .option('--limit <count>', 'maximum of nodes, failing ones first', parseCount, 100)
    .action((options: StatusOptions) => showStatus(context, options));

  crawl
    .command('now')
    .description('crawl a node now, and show the result')
    .argument('<node>', 'domain or subscriberId of the node', parseSubscriber)
    .option('--timeout <seconds>', 'how long to wait for it', parseCount, 60)
    .action((node: string, { timeout }: { timeout: number }) => crawlNow(context, node, timeout));

  crawl
    .command('log')
    .description('list the problems that the crawler found, and what to do about them; the latest first')
    .option('--node <subscriber>', 'only what concerns this node', parseSubscriber)
    .option('--catalog <id>', 'only what concerns this catalog')
    .option('--limit <count>', 'maximum of lines', parseCount, 50)
    .option('--offset <count>', 'number of lines to skip', parseOffset, 0)
    .action((options: LogOptions) => showLog(context, options));
};

const examples = `
Examples:
  $ signpost crawl status
  $ signpost crawl status --node provider.example.org
  $ signpost crawl now provider.example.org
  $ signpost crawl log --node provider.example.org --catalog chargers-london

Providers find errors in their files with "signpost doctor".
These commands use DATABASE_URL, or the embedded database in DATA_DIR.`;

interface StatusOptions {
  node?: string;
  limit: number;
}

async function showStatus(context: CommandContext, { node, limit }: StatusOptions): Promise<void> {
  await withDatabase(context, async (database, { REGISTRY_NAME }) => {
    if (node !== undefined) {
      const identity = identityOf(node, REGISTRY_NAME);
      const catalogs = await listCrawledCatalogs(database, identity);
      if (catalogs.length === 0) throw new CommandError(await nothingKnown(database, identity, node));
      const next = await findNextWork(database, { node: identity, limit: nextShown });
      const text = [renderCatalogs(catalogs, new Date()), renderNext(next, new Date())].join('\n\n');
      return printResult(context, catalogs, text);
    }
    const status = await readCrawlStatus(database, { limit });
    printResult(context, status, renderStatus(status, new Date()));
    const { nodes, nodeCount } = status;
    if (nodes.length < nodeCount)
      context.note(`These are ${nodes.length} of ${nodeCount} nodes; --limit shows more.`);
  });
}

const nextShown = 5;

async function nothingKnown(database: Database, identity: string, node: string): Promise<string> {
  const known = await findLastLook(database, identity);
  const seeWhy = `See why: signpost doctor ${node}`;
  if (known === undefined) return `No catalog of ${identity} is known. ${seeWhy}`;
  const [next] = await findNextWork(database, { node: identity, limit: 1 });
  const now = new Date();
  const looked =
    known.checkedAt === null
      ? 'It has not been checked yet'
      : `It was checked ${whenText(known.checkedAt, now)}`;
  return `No catalog of ${identity} is known. ${looked}; the next check is ${next ? whenText(next.at, now) : 'not planned'}. ${seeWhy}`;
}

const pollMs = 100;
const shownLines = 20;

async function crawlNow(context: CommandContext, node: string, seconds: number) {
  await act(context, `See why: signpost doctor ${node}`, async (acting, { REGISTRY_NAME }) => {
    const { database } = acting;
    const identity = identityOf(node, REGISTRY_NAME);
    const until = waitUntil(Date.now() + seconds * 1_000);
    const askedAt = await readClock(database);
    await startCrawl(acting, acting.by, identity, until);
    await until(() => isCrawled(database, identity));
    const { lines } = await readLog(database, { node: identity, limit: shownLines, offset: 0 });
    const told = lines.filter(({ at }) => at >= askedAt);
    const catalogs = await listCrawledCatalogs(database, identity);
    const nothing = `${identity} hosts nothing that can be read.`;
    const text = [
      catalogs.length > 0 ? renderCatalogs(catalogs, new Date()) : nothing,
      ...(told.length > 0 ? ['', ...told.map(renderLine)] : []),
    ];
    printResult(context, { node: identity, catalogs, log: told }, text.join('\n'));
  });
}

function waitUntil(end: number): (holds: () => Promise<boolean>) => Promise<void> {
  return async (holds) => {
    while (!(await holds())) {
      if (Date.now() > end)
        throw new CommandError('It was not crawled in time. Is the discovery service running?');
      await delay(pollMs);
    }
  };
}

interface LogOptions extends StatusOptions {
  catalog?: string;
  offset: number;
}

async function showLog(context: CommandContext, options: LogOptions): Promise<void> {
  const { node, catalog: catalogId, limit, offset } = options;
  await withDatabase(context, async (database, { REGISTRY_NAME }) => {
    const { lines, total } = await readLog(database, {
      ...(node !== undefined && { node: identityOf(node, REGISTRY_NAME) }),
      ...(catalogId !== undefined && { catalogId }),
      ...{ limit, offset },
    });
    const text = lines.map(renderLine).join('\n') || 'The crawl log has no matching lines.';
    printResult(context, { lines, total }, text);
    if (offset + lines.length < total)
      context.note(`${total - offset - lines.length} more; --limit and --offset show them.`);
  });
}
