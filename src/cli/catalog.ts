import { audited } from '../console/audited.ts';
import { notFound } from '../console/errors.ts';
import type { CatalogType } from '../protocol/catalog.ts';
import { identityOf } from '../protocol/identity.ts';
import type { PublishResult, ResourceDirective } from '../protocol/publish-messages.ts';
import { type CatalogSummary, listCatalogs } from '../storage/catalog/catalog-list.ts';
import { type CatalogRow, findCatalog, releaseCatalog } from '../storage/catalog/catalogs.ts';
import { type Change, listChanges } from '../storage/catalog/change-log.ts';
import { readCatalog } from '../storage/catalog/reader.ts';
import { listResults, type ResultSummary } from '../storage/catalog/submissions.ts';
import { listExtensions } from '../storage/console/masters.ts';
import { catalogTypes, parseCatalogType, parseCount, parseNetwork, parseSubscriber } from './arguments.ts';
import { type CommandContext, CommandError, printResult, type Register, renderTable } from './command.ts';
import { act, withDatabase } from './database.ts';
import { renderProblems } from './publish/report.ts';

export const register: Register = (program, context) => {
  const catalog = program.command('catalog').addHelpText('after', examples);

  catalog
    .command('list')
    .description('list catalogs in the order in which they were first published')
    .option('--owner <subscriber>', 'only those of this publisher', parseSubscriber)
    .option('--type <type>', `only ${catalogTypes.join(' or ')}`, parseCatalogType)
    .option('--network <id>', 'only those visible to this network', parseNetwork)
    .option('--limit <count>', 'maximum number', parseCount, 1_000)
    .action((options: ListOptions) => list(context, options));

  catalog
    .command('show')
    .description(
      'show a catalog, what its resources extend, its latest changes, and the results of its latest publishes, with warnings',
    )
    .argument('<id>', 'id of the catalog')
    .option('--json', 'print the whole catalog as the service sends it')
    .action((id: string) => (context.json ? printDocument(context, id) : show(context, id)));

  catalog
    .command('release')
    .description('release the id of a catalog: the next publisher becomes its owner')
    .argument('<id>', 'id of the catalog')
    .action((id: string) => release(context, id));
};

const shownChanges = 10;
const shownPublishes = 5;
const shownExtending = 50;
const examples = `
Examples:
  $ signpost catalog list --owner bpp.example.com
  $ signpost catalog show chargers-london
  $ signpost catalog show chargers-london --json > chargers-london.json
  $ signpost catalog release chargers-london

These commands use DATABASE_URL, or the embedded database in DATA_DIR.`;

interface ListOptions {
  owner?: string;
  type?: CatalogType;
  network?: string;
  limit: number;
}

async function list(context: CommandContext, { owner, type, network, limit }: ListOptions) {
  await withDatabase(context, async (database, config) => {
    const catalogs = await listCatalogs(database, {
      owner: owner && identityOf(owner, config.REGISTRY_NAME),
      type,
      networkId: network,
      limit,
    });
    const text = catalogs.length > 0 ? renderList(catalogs) : 'There is no such catalog.';
    printResult(context, catalogs, text);
    if (catalogs.length === limit) context.note(`These are the first ${limit}; --limit shows more.`);
  });
}

async function show(context: CommandContext, id: string): Promise<void> {
  await withDatabase(context, async (database) => {
    const catalog = await findCatalog(database, id);
    const results = await listResults(database, id, shownPublishes);
    if (catalog === undefined && results.length === 0) unknown(id);
    const extending = catalog ? await listExtensions(database, catalog) : [];
    const changes = catalog && (await listChanges(database, catalog.key, shownChanges));
    const parts = [
      catalog ? renderCatalog(catalog) : `There is no catalog ${id}: no publish of it has been accepted.`,
      ...(extending.length > 0 ? [renderExtending(extending)] : []),
      ...(changes ? [renderChanges(changes)] : []),
      ...(results.length > 0 ? [renderPublishes(results)] : []),
    ];
    context.print(parts.join('\n\n'));
  });
}

/** Prints catalogs of any size. Pieces end at token boundaries, so the line ends between them do no harm. */
async function printDocument(context: CommandContext, id: string): Promise<void> {
  await withDatabase(context, (database) =>
    database.transaction(
      async (snapshot) => {
        const { key } = (await findCatalog(snapshot, id)) ?? unknown(id);
        for await (const piece of readCatalog(snapshot, key)) context.print(piece);
      },
      { isolation: 'repeatable read' },
    ),
  );
}

async function release(context: CommandContext, id: string): Promise<void> {
  const released = { action: 'catalog.release', target: id };
  const owner = await act(context, seeList, (acting) =>
    audited(acting, acting.by, released, async () => {
      const former = await acting.database.transaction((tx) => releaseCatalog(tx, id));
      if (former === undefined) throw notFound(`There is no catalog ${id}.`);
      return former;
    }),
  );
  const text =
    owner === null
      ? `${id} already has no owner.`
      : `${id} belonged to ${owner}. It stays published until somebody publishes it again.`;
  printResult(context, { id, formerOwner: owner }, text);
}

const seeList = 'To list them: signpost catalog list';

function unknown(id: string): never {
  throw new CommandError(`There is no catalog ${id}. ${seeList}`);
}

function renderList(catalogs: readonly CatalogSummary[]): string {
  const header = ['ID', 'TYPE', 'VERSION', 'RESOURCES', 'OFFERS', 'ACTIVE', 'UPDATED', 'OWNER', 'NETWORKS'];
  const rows = catalogs.map(({ version, resourceCount, offerCount, ...one }) => [
    ...[one.id, one.type, ...[version, resourceCount, offerCount].map(String), one.isActive ? 'yes' : 'no'],
    ...[one.updatedAt.toISOString(), one.owner ?? '-', one.visibleTo.join(' ')],
  ]);
  return renderTable(header, rows);
}

function renderCatalog(catalog: CatalogRow): string {
  const { descriptor, provider } = JSON.parse(catalog.head);
  const lines: [label: string, text: string | undefined][] = [
    ['id', catalog.id],
    ['name', descriptor?.name],
    ['provider', [provider?.id, provider?.descriptor?.name].filter(Boolean).join(', ')],
    ['owner', catalog.owner ?? 'none: the next publisher becomes its owner'],
    ['type', catalog.type],
    ['active', catalog.isActive ? 'yes' : 'no'],
    ['networks', catalog.visibleTo.join(' ')],
    ['version', String(catalog.version)],
    ['resources', String(catalog.resourceCount)],
    ['offers', String(catalog.offerCount)],
    ['schema types', Object.keys(catalog.schemaUses).join(' ')],
    ['first published', catalog.publishedAt.toISOString()],
    ['last changed', catalog.updatedAt.toISOString()],
  ];
  const rows = lines.map(([label, text]) => [label, text || '-']);
  return renderTable(['', ''], rows).trimStart();
}

/** Shows which master resources the resources extend. No message to other services contains it. */
function renderExtending(extending: readonly ResourceDirective[]): string {
  const rows = extending
    .slice(0, shownExtending)
    .map(({ resourceId, extends: { masterResourceId }, variant }) => {
      const label = variant?.label === undefined ? '' : ` (${variant.label})`;
      return [resourceId, masterResourceId, variant ? `${variant.type} ${variant.id}${label}` : '-'];
    });
  const table = renderTable(['RESOURCE', 'EXTENDS', 'VARIANT'], rows);
  return extending.length > shownExtending ? `${table}\nThese are the first ${shownExtending}.` : table;
}

function renderChanges(changes: readonly Change[]): string {
  if (changes.length === 0) return 'No changes are known.';
  const rows = changes.map(({ version, kind, at, publisher }) => [
    ...[String(version), kind, at.toISOString(), publisher],
  ]);
  return renderTable(['VERSION', 'CHANGE', 'AT', 'BY'], rows);
}

function renderPublishes(results: readonly ResultSummary[]): string {
  const told = results.map(({ result, warnings, ...rest }) => ({
    ...rest,
    result: { ...(JSON.parse(result) as PublishResult), warnings: warnings ? JSON.parse(warnings) : [] },
  }));
  const rows = told.map(({ acceptedAt, result: { status, errors = [], warnings }, publisher, messageId }) => [
    ...[acceptedAt.toISOString(), status, String(errors.length), String(warnings.length)],
    ...[publisher, messageId],
  ]);
  const table = renderTable(['PUBLISHED', 'STATUS', 'ERRORS', 'WARNINGS', 'BY', 'MESSAGE'], rows);
  return [table, ...(told[0] ? renderProblems(told[0].result) : [])].join('\n');
}
