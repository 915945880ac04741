import type { Command } from 'commander';
import { identityOf } from '../protocol/identity.ts';
import { type LoggedLine, readLog } from '../storage/crawl-log.ts';
import {
  type CatalogStatus,
  type CrawlStatus,
  listCrawledCatalogs,
  readCrawlStatus,
} from '../storage/crawl-status.ts';
import { parseCount, parseOffset, parseSubscriber } from './arguments.ts';
import { type CommandContext, CommandError, counted, renderTable } from './command.ts';
import { withDatabase } from './database.ts';

// The operator's view of the crawler of the own discovery service.

export function registerCrawlCommand(program: Command, context: CommandContext): void {
  const crawl = program
    .command('crawl')
    .description('self-hosted catalogs: how the crawl stands, and what it did not take')
    .addHelpText('after', examples);

  crawl
    .command('status')
    .description('whom the crawler reads, and in which state the catalogs are')
    .option('--node <subscriber>', 'the catalogs of this node, one by one', parseSubscriber)
    .option('--limit <count>', 'at most so many nodes, those that fail first', parseCount, 100)
    .option('--json', 'print JSON')
    .action((options: StatusOptions) => showStatus(context, options));

  crawl
    .command('log')
    .description('what the crawler did not take, or tells of, and what to do about it; the latest first')
    .option('--node <subscriber>', 'only what concerns this node', parseSubscriber)
    .option('--catalog <id>', 'only what concerns this catalog')
    .option('--limit <count>', 'at most so many lines', parseCount, 50)
    .option('--offset <count>', 'without the first ones', parseOffset, 0)
    .option('--json', 'print JSON')
    .action((options: LogOptions) => showLog(context, options));
}

const examples = `
Examples:
  $ signpost crawl status
  $ signpost crawl status --node provider.example.org
  $ signpost crawl log --node provider.example.org --catalog chargers-london

Whoever hosts a catalog finds out with "signpost doctor" what is wrong with it.
They work on the database that the settings name: DATABASE_URL, or the embedded one under DATA_DIR.`;

interface StatusOptions {
  node?: string;
  limit: number;
  json?: boolean;
}

async function showStatus(context: CommandContext, { node, limit, json }: StatusOptions): Promise<void> {
  await withDatabase(context, async (database, { REGISTRY_NAME }) => {
    if (node !== undefined) {
      const identity = identityOf(node, REGISTRY_NAME);
      const catalogs = await listCrawledCatalogs(database, identity);
      if (catalogs.length === 0) {
        throw new CommandError(`No catalog of ${identity} is known. See why: signpost doctor ${node}`);
      }
      return context.print(json ? JSON.stringify(catalogs, null, 2) : renderCatalogs(catalogs));
    }
    const status = await readCrawlStatus(database, { limit });
    context.print(json ? JSON.stringify(status, null, 2) : renderStatus(status));
    const { nodes, nodeCount } = status;
    if (nodes.length < nodeCount)
      context.note(`These are ${nodes.length} of ${nodeCount} nodes; --limit shows more.`);
  });
}

interface LogOptions {
  node?: string;
  catalog?: string;
  limit: number;
  offset: number;
  json?: boolean;
}

async function showLog(context: CommandContext, options: LogOptions): Promise<void> {
  const { node, catalog: catalogId, limit, offset, json } = options;
  await withDatabase(context, async (database, { REGISTRY_NAME }) => {
    const { lines, total } = await readLog(database, {
      ...(node !== undefined && { node: identityOf(node, REGISTRY_NAME) }),
      ...(catalogId !== undefined && { catalogId }),
      ...{ limit, offset },
    });
    if (json) return context.print(JSON.stringify({ lines, total }, null, 2));
    context.print(lines.length > 0 ? lines.map(renderLine).join('\n') : 'The crawl log has no such line.');
    if (offset + lines.length < total)
      context.note(`${total - offset - lines.length} more; --limit and --offset show them.`);
  });
}

function renderLine({ at, node, catalogId, code, message, hint, times, url, indexUrl }: LoggedLine): string {
  const what = [code, node, catalogId].filter((part) => part !== null && part !== undefined).join('  ');
  const place = url ?? indexUrl;
  return [
    `${at.toISOString()}  ${what}${times > 1 ? `  (${counted(times, 'time')})` : ''}`,
    `  ${message}`,
    ...(place && !message.includes(place) ? [`  ${place}`] : []),
    `  What to do: ${hint}`,
  ].join('\n');
}

function renderStatus({ sources, catalogs, nodes, nodeCount }: CrawlStatus): string {
  if (sources.length === 0 && nodeCount === 0) {
    return 'Nothing is crawled: neither DISCOVERY_NETWORKS nor DISCOVERY_NODES names anything.';
  }
  const total = catalogs.reduce((sum, { count }) => sum + count, 0);
  const states = catalogs.map(({ state, count }) => `${count} ${state}`).join(', ');
  const parts = [
    renderTable(
      ['SOURCE', 'NAME', 'NODES', 'FAILURES'],
      sources.map(({ kind, name, nodes: named, failures }) => [kind, name, String(named), String(failures)]),
    ),
    `${counted(nodeCount, 'node')}, ${counted(total, 'catalog')}${total > 0 ? `: ${states}` : ''}`,
    ...(nodes.length > 0 ? [renderNodes(nodes)] : []),
  ];
  return parts.join('\n\n');
}

function renderNodes(nodes: CrawlStatus['nodes']): string {
  const header = ['NODE', 'HOST', 'INDEXES', 'CATALOGS', 'SERVED', 'FAILURES', 'CHECKED', 'NEXT'];
  return renderTable(
    header,
    nodes.map(({ node, host, indexes, catalogs, served, failures, checkedAt, nextAt }) => [
      ...[node, host, ...[indexes, catalogs, served, failures].map(String)],
      ...[checkedAt, nextAt].map(timeText),
    ]),
  );
}

function renderCatalogs(catalogs: readonly CatalogStatus[]): string {
  const header = [
    'CATALOG',
    'TYPE',
    'STATE',
    'VERSION',
    'ENTRY',
    'RESOURCES',
    'LAST REASON',
    'FAILURES',
    'NEXT',
  ];
  return renderTable(
    header,
    catalogs.map((one) => [
      ...[one.catalogId, one.type, stateText(one), String(one.version ?? '-'), entryText(one)],
      ...[String(one.resources), one.lastCode ?? '-', String(one.failures), timeText(one.nextAt)],
    ]),
  );
}

function stateText({ state, waitingFor }: CatalogStatus): string {
  const [first, ...more] = waitingFor ?? [];
  if (first === undefined) return state;
  return `${state} (${first}${more.length > 0 ? ` and ${more.length} more` : ''})`;
}

function entryText({ entryVersion, appliedEntryVersion }: CatalogStatus): string {
  if (entryVersion === null || entryVersion === appliedEntryVersion)
    return String(appliedEntryVersion ?? '-');
  return `${appliedEntryVersion ?? '-'} of ${entryVersion}`;
}

function timeText(time: Date | null): string {
  return time?.toISOString() ?? '-';
}
