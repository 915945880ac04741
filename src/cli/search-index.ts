import type { IndexStatus } from '../search/status.ts';
import { type CommandContext, CommandError, printResult, type Register, renderTable } from './command.ts';

export const register: Register = (program, context) => {
  const index = program.command('index').addHelpText('after', examples);

  index
    .command('status')
    .description(
      'show the generation that searches read, the progress of a new one, and the processes that use the index',
    )
    .action(() => showStatus(context));

  index
    .command('rebuild')
    .description(
      'build a new generation of the index from the documents, and switch searches to it; they continue during the build',
    )
    .option('--catalog <id>', 'rebuild only the entries of this catalog id')
    .action(({ catalog }: { catalog?: string }) =>
      catalog === undefined ? rebuild(context) : rebuildCatalog(context, catalog),
    );

  index
    .command('check')
    .description(
      'compare the index with the documents, and list every difference; exit code 1 if there are any',
    )
    .option('--mend', 'rebuild entries that differ')
    .option('--json', 'print each difference as a line of JSON')
    .action((options: { mend?: boolean }) => check(context, options));
};

const examples = `
Examples:
  $ signpost index status
  $ signpost index rebuild --catalog chargers-london
  $ signpost index check --mend

If an upgrade changes the index format, the discovery service builds a new generation next to the one in use, as soon as the last process of the older
version has ended; with SEARCH_INDEX=opensearch, run "signpost index rebuild" then. Searches continue during the build.
These commands use DATABASE_URL, or the embedded database in DATA_DIR.`;

async function showStatus(context: CommandContext): Promise<void> {
  const { withDatabase } = await import('./database.ts');
  const { readIndexStatus } = await import('../search/status.ts');
  const status = await withDatabase(context, (database) => readIndexStatus(database));
  printResult(context, status, renderStatus(status));
}

function renderStatus(status: IndexStatus): string {
  const { inUse, openSearch, newest, processes } = status;
  const lines = [
    ...(openSearch ? [describeOpenSearch(openSearch)] : []),
    ...(inUse
      ? [
          `${openSearch ? 'The lists in the database are' : 'Searches read'} generation ${inUse.number} of the index (version ${inUse.version}); this program supports versions up to ${newest}.`,
        ]
      : ['The database has no index.']),
    describeNextStep(status),
  ];
  const rows = processes.map(({ name, version: known }) => [name, String(known)]);
  if (rows.length === 0 && openSearch) return lines.join('\n');
  if (rows.length === 0) return [...lines, 'No running process uses it.'].join('\n');
  return [...lines, '', renderTable(['PROCESS', 'SUPPORTS VERSION'], rows)].join('\n');
}

function describeOpenSearch({ name, building }: NonNullable<IndexStatus['openSearch']>): string {
  const built = building === null ? '' : ` ${building} is being built.`;
  return `Searches in OpenSearch ${name === null ? 'wait for the first index.' : `read ${name}.`}${built}`;
}

function describeNextStep(status: IndexStatus): string {
  const { inUse, building, left, newest, catalogs, isBuilding, processes } = status;
  if (building) {
    const built = `${catalogs - left} of ${catalogs} catalogs are in generation ${building.number}, of version ${building.version}.`;
    if (isBuilding) return `${built} The others are being built.`;
    return `${built} The others will be built${processes.length > 0 ? '' : ' when a discovery service runs'}.`;
  }
  const older = processes.filter(({ version }) => version < newest).length;
  if (inUse && inUse.version < newest && older > 0)
    return `The generation for version ${newest} waits until ${older === 1 ? '1 process of an older version has' : `${older} processes of an older version have`} ended.`;
  return 'Nothing is left to build.';
}

/** The search loads much of the system, which help and status do not need. */
async function withIndex<T>(context: CommandContext, work: (index: IndexUpkeep) => Promise<T>): Promise<T> {
  const { withDatabase } = await import('./database.ts');
  const { maintainIndex } = await import('../search/port.ts');
  return withDatabase(context, async (database, config) => {
    const index = maintainIndex(database, undefined, config);
    return work(index).finally(index.close);
  });
}

type IndexUpkeep = ReturnType<typeof import('../search/port.ts').maintainIndex>;

async function rebuild(context: CommandContext): Promise<void> {
  let shownAt = performance.now();
  const rebuilt = await withIndex(context, (index) =>
    index.rebuild(({ catalogs: done }) => {
      if (performance.now() - shownAt < showEveryMs) return;
      shownAt = performance.now();
      context.note(`${done} catalogs so far`);
    }),
  );
  const { catalogs, documents, version } = rebuilt;
  const text = `Built a new generation of the index from ${catalogs} ${catalogs === 1 ? 'catalog' : 'catalogs'} with ${documents} resources and offers, in version ${version}. Searches read it now.`;
  printResult(context, { catalogs, documents, version }, text);
}

const showEveryMs = 5_000;

async function rebuildCatalog(context: CommandContext, id: string): Promise<void> {
  const checked = await withIndex(context, (index) => index.rebuildCatalogs(id));
  if (checked === undefined) throw new CommandError(`The index has no catalog with the id ${id}.`);
  const { documents, mended } = checked;
  const text = `Compared ${documents} documents of the catalog ${id} with their entries; repaired the entries of ${mended}.`;
  printResult(context, { documents, mended }, text);
}

async function check(context: CommandContext, { mend = false }: { mend?: boolean }) {
  const { describeDifference } = await import('../search/port.ts');
  const { documents, differences, mended } = await withIndex(context, (index) =>
    index.check({
      mend,
      onDifference: (each) => context.print(context.json ? JSON.stringify(each) : describeDifference(each)),
    }),
  );
  const held = `${documents} catalogs, resources and offers were compared with the index`;
  if (differences === 0) return context.note(`${held}: no difference.`);
  const found = `${held}: ${differences} ${differences === 1 ? 'difference' : 'differences'}`;
  if (!mend) throw new CommandError(`${found}. "signpost index check --mend" mends them.`);
  context.note(`${found}; the entries of ${mended} of them were rebuilt.`);
}
