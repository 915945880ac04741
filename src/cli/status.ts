import type { Config } from '../config.ts';
import type { Overview } from '../storage/console/overview.ts';
import type { CrawlSummary } from '../storage/crawl/status.ts';
import { collectUrls } from './arguments.ts';
import { paint } from './colour.ts';
import {
  type CommandContext,
  counted,
  hasDatabase,
  oneLine,
  printResult,
  type Register,
  renderTable,
} from './command.ts';
import { askAddresses, askRoles, type SaidTrouble } from './status/readiness.ts';

export const register: Register = (program, context) =>
  program
    .command('status')
    .argument('[addresses...]', 'of processes (OPERATIONS_PORT) or roles, here or elsewhere', collectUrls)
    .addHelpText('after', help)
    .action((addresses: string[] = []) => showStatus(context, addresses));

const help = `
Asks the addresses for /ready. Without addresses, it asks the process on this machine and reads the database (DATABASE_URL, or the embedded one in DATA_DIR).
It lists the roles that answer; if ROLES is set, it lists those. Troubles are lasting failures, such as a key that the registry does not have, each with its
next step.

Exit codes: 0 every role is ready, no trouble; 1 otherwise.

Examples:
  $ signpost status
  $ signpost status http://10.0.0.5:4006 http://10.0.0.6:4006
  $ ROLES=catalog signpost status --json | jq .deliveries`;

interface Stored {
  overview: Overview;
  crawl: CrawlSummary;
}

async function showStatus(context: CommandContext, addresses: readonly string[]) {
  const config = context.config();
  const isElsewhere = addresses.length > 0;
  const asked = await (isElsewhere ? askAddresses(addresses) : askRoles(config, context.isSet('ROLES')));
  const roles = asked.map(({ troubles: _, ...role }) => role);
  // Several processes of a role report the same.
  const said = new Map(asked.flatMap((role) => role.troubles.map((trouble) => [trouble.what, trouble])));
  const troubles = [...said.values()];
  const stored = isElsewhere ? undefined : await readStored(context, config);
  const lines = [
    renderTable(
      ['ROLE', 'STATE', 'ADDRESS', ''],
      roles.map(({ role, state, address, problem = '' }) => [role, state, address, problem]),
    ),
    ...renderTroubles(troubles),
    ...(isElsewhere ? [] : renderStored(stored, config)),
  ];
  const told = { roles, troubles, ...stored?.overview, crawlState: stored?.crawl };
  printResult(context, told, lines.join('\n'));
  if (troubles.length > 0 || roles.some(({ state }) => state !== 'ready')) context.setExitCode(1);
}

/** Undefined if there is no database yet; does not create one. */
async function readStored(context: CommandContext, config: Config): Promise<Stored | undefined> {
  if (!hasDatabase(config)) return undefined;
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

function renderTroubles(troubles: readonly SaidTrouble[]): string[] {
  return troubles.flatMap(({ role, what, since, next }) => [
    '',
    `${paint('bad', 'trouble')}    ${oneLine(`${role}, since ${since}: ${what}`)}`,
    `  next     ${oneLine(next)}`,
  ]);
}

function renderStored(stored: Stored | undefined, config: Config): string[] {
  if (!stored)
    return [
      '',
      `There is no database in ${config.DATA_DIR} yet: "signpost up" makes one, DATABASE_URL names another.`,
    ];
  const { overview, crawl } = stored;
  const { waiting, parked, oldestWaitingAt } = overview.deliveries;
  const since = oldestWaitingAt ? `, the oldest since ${oldestWaitingAt.toISOString()}` : '';
  const { catalogs, resources, participants, subscriptions, index } = overview;
  const parkedText = parked > 0 ? paint('bad', `${parked} parked`) : 'none parked';
  const lines: [name: string, text: string][] = [
    ['catalogs', `${counted(catalogs, 'catalog')}, ${counted(resources, 'resource')}`],
    ['network', `${counted(participants, 'participant')}, ${counted(subscriptions, 'subscription')}`],
    ['index', `version ${index.version}, ${counted(index.resources, 'resource')}`],
    ['deliveries', `${waiting} waiting${since}; ${parkedText}`],
    ['crawl', renderCrawl(overview, crawl)],
  ];
  return ['', ...lines.map(([name, text]) => `${name.padEnd(11)}${text}`), ...advice(overview)];
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
  return lines.length > 0 ? ['', 'Find out more:', ...lines.map((line) => `  ${line}`)] : [];
}
