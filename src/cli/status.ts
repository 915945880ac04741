import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Config } from '../config.ts';
import type { Overview } from '../storage/console/overview.ts';
import type { CrawlSummary } from '../storage/crawl/status.ts';
import { paint } from './colour.ts';
import { type CommandContext, counted, renderTable } from './command.ts';
import { askReadiness, type RoleReadiness } from './status/readiness.ts';

export function registerStatusCommand(program: Command, context: CommandContext): void {
  program
    .command('status')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(({ json }: { json?: boolean }) => showStatus(context, json));
}

const help = `
Asks the roles of ROLES for /ready, and looks into the database that the settings name: DATABASE_URL, or the embedded one under DATA_DIR.

Exit code: 0 when every role is ready, 1 otherwise.

Examples:
  $ signpost status
  $ ROLES=catalog signpost status --json | jq .deliveries`;

interface Status {
  roles: RoleReadiness[];
  /** Undefined where there is no database yet. */
  stored: { overview: Overview; crawl: CrawlSummary } | undefined;
}

async function showStatus(context: CommandContext, json = false): Promise<void> {
  const config = context.config();
  const roles = await askReadiness(config);
  const status: Status = { roles, stored: await readStored(context, config) };
  if (json) {
    const { stored } = status;
    context.print(JSON.stringify({ roles, ...stored?.overview, crawlState: stored?.crawl }, null, 2));
  } else context.print(render(status, config));
  if (roles.some(({ state }) => state !== 'ready')) context.setExitCode(1);
}

/** An embedded database that was never made is not made for this. */
async function readStored(context: CommandContext, config: Config): Promise<Status['stored']> {
  if (config.DATABASE_URL === undefined && !existsSync(join(config.DATA_DIR, 'postgres'))) return undefined;
  const [{ withDatabase }, { readOverview }, { summarizeCrawl }] = await Promise.all([
    import('./database.ts'),
    import('../storage/console/overview.ts'),
    import('../storage/crawl/status.ts'),
  ]);
  return withDatabase(context, async (database) => ({
    overview: await readOverview(database),
    crawl: await summarizeCrawl(database),
  }));
}

function render({ roles, stored }: Status, config: Config): string {
  const table = renderTable(
    ['ROLE', 'STATE', 'ADDRESS', ''],
    roles.map(({ role, state, address, problem = '' }) => [role, state, address, problem]),
  );
  if (!stored)
    return `${table}\n\nThere is no database in ${config.DATA_DIR} yet: "signpost up" makes one, DATABASE_URL names another.`;
  const { overview, crawl } = stored;
  const { waiting, parked, oldestWaitingAt } = overview.deliveries;
  const since = oldestWaitingAt ? `, the oldest since ${oldestWaitingAt.toISOString()}` : '';
  const lines: [name: string, text: string][] = [
    ['catalogs', `${counted(overview.catalogs, 'catalog')}, ${counted(overview.resources, 'resource')}`],
    [
      'network',
      `${counted(overview.participants, 'participant')}, ${counted(overview.subscriptions, 'subscription')}`,
    ],
    ['index', `version ${overview.index.version}, ${counted(overview.index.resources, 'resource')}`],
    [
      'deliveries',
      `${waiting} waiting${since}; ${parked > 0 ? paint('bad', `${parked} parked`) : 'none parked'}`,
    ],
    ['crawl', renderCrawl(overview, crawl)],
  ];
  return [table, '', ...lines.map(([name, text]) => `${name.padEnd(11)}${text}`), ...advice(overview)].join(
    '\n',
  );
}

function renderCrawl({ nodes, crawl: { failing } }: Overview, { catalogs }: CrawlSummary): string {
  const states = catalogs.map(({ state, count }) => `${count} ${state}`).join(', ');
  const known = `${counted(nodes, 'node')}${states ? `; catalogs: ${states}` : ''}`;
  return failing > 0 ? `${known}; ${paint('bad', `${counted(failing, 'node')} failing`)}` : known;
}

function advice({ deliveries, crawl }: Overview): string[] {
  const lines = [
    ...(deliveries.parked > 0
      ? ['signpost deliveries list --state parked', 'signpost deliveries replay --all']
      : []),
    ...(crawl.failing > 0 ? ['signpost crawl log'] : []),
  ];
  return lines.length > 0 ? ['', 'Look into it:', ...lines.map((line) => `  ${line}`)] : [];
}
