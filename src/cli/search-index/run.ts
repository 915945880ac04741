import type { Config } from '../../config.ts';
import { describeDifference, maintainIndex, rebuildOpenSearch } from '../../search/port.ts';
import { silentLogger } from '../../silent-logger.ts';
import type { Database } from '../../storage/database.ts';
import { type CommandContext, CommandError, printResult } from '../command.ts';
import { withDatabase } from '../database.ts';

export interface RebuildOptions {
  catalog?: string;
  opensearch?: boolean;
  json?: boolean;
}

export interface CheckOptions {
  mend?: boolean;
  json?: boolean;
}

export async function rebuild(
  context: CommandContext,
  { catalog, opensearch, json }: RebuildOptions,
): Promise<void> {
  await withDatabase(context, async (database, config) => {
    const hasOpenSearch = config.SEARCH_INDEX.includes('opensearch');
    if (opensearch && !hasOpenSearch) throw new CommandError('SEARCH_INDEX does not name opensearch.');
    if (!opensearch) await rebuildLists(context, database, config, { catalog, json });
    if (hasOpenSearch && catalog === undefined) await rebuildInOpenSearch(context, database, config, json);
  });
}

async function rebuildLists(
  context: CommandContext,
  database: Database,
  config: Config,
  { catalog, json }: RebuildOptions,
): Promise<void> {
  const started = performance.now();
  let toldAt = started;
  const { catalogs, documents, version } = await maintainIndex(database).rebuild({
    ...(catalog !== undefined && { catalogId: catalog }),
    graceMs: 2 * config.DISCOVER_TIMEOUT_MS,
    onProgress({ catalogs: done }) {
      if (performance.now() - toldAt < tellEveryMs) return;
      toldAt = performance.now();
      context.note(`${done} catalogs so far`);
    },
  });
  if (catalog !== undefined && catalogs === 0)
    throw new CommandError(`The index has no catalog with the id ${catalog}.`);
  const text = `Made the entries of ${catalogs} ${catalogs === 1 ? 'catalog' : 'catalogs'} with ${documents} resources and offers anew, in version ${version}.`;
  printResult(context, json, { index: 'postgres', catalogs, documents, version }, text);
}

async function rebuildInOpenSearch(
  context: CommandContext,
  database: Database,
  config: Config,
  json?: boolean,
): Promise<void> {
  let toldAt = performance.now();
  const onProgress = (done: number) => {
    if (performance.now() - toldAt < tellEveryMs) return;
    toldAt = performance.now();
    context.note(`${done} resources so far`);
  };
  const tools = { logger: silentLogger(), onProgress };
  const resources = await rebuildOpenSearch({ config, database }, tools).catch((error: Error) => {
    throw new CommandError(`OpenSearch: ${error.message}`, error);
  });
  const text = `Built a new index of OpenSearch with ${resources} resources. Searches ask it now.`;
  printResult(context, json, { index: 'opensearch', resources }, text);
}

const tellEveryMs = 5_000;

export async function check(
  context: CommandContext,
  { mend = false, json = false }: CheckOptions,
): Promise<void> {
  await withDatabase(context, async (database) => {
    const { documents, differences, mended } = await maintainIndex(database).check({
      mend,
      onDifference: (each) => context.print(json ? JSON.stringify(each) : describeDifference(each)),
    });
    const held = `${documents} catalogs, resources and offers were held against the index`;
    if (differences === 0) return context.note(`${held}: no difference.`);
    const counted = `${held}: ${differences} ${differences === 1 ? 'difference' : 'differences'}`;
    if (!mend) throw new CommandError(`${counted}. "signpost index check --mend" mends them.`);
    context.note(`${counted}; the entries of ${mended} of them were made anew.`);
  });
}
