import { describeDifference, maintainIndex } from '../../search/port.ts';
import type { Database } from '../../storage/database.ts';
import { type CommandContext, CommandError, printResult } from '../command.ts';
import { withDatabase } from '../database.ts';

export interface RebuildOptions {
  catalog?: string;
  json?: boolean;
}

export interface CheckOptions {
  mend?: boolean;
  json?: boolean;
}

export async function rebuild(context: CommandContext, { catalog, json }: RebuildOptions): Promise<void> {
  await withDatabase(context, async (database) => {
    if (catalog !== undefined) return rebuildCatalog(context, database, catalog, json);
    let shownAt = performance.now();
    const { catalogs, documents, version } = await maintainIndex(database).rebuild(({ catalogs: done }) => {
      if (performance.now() - shownAt < showEveryMs) return;
      shownAt = performance.now();
      context.note(`${done} catalogs so far`);
    });
    const text = `Built a new generation of the index from ${catalogs} ${catalogs === 1 ? 'catalog' : 'catalogs'} with ${documents} resources and offers, in version ${version}. Searches read it now.`;
    printResult(context, json, { catalogs, documents, version }, text);
  });
}

async function rebuildCatalog(
  context: CommandContext,
  database: Database,
  id: string,
  json: boolean | undefined,
): Promise<void> {
  const checked = await maintainIndex(database).rebuildCatalogs(id);
  if (checked === undefined) throw new CommandError(`The index has no catalog with the id ${id}.`);
  const { documents, mended } = checked;
  const text = `Compared ${documents} documents of the catalog ${id} with their entries; the entries of ${mended} were wrong and are mended.`;
  printResult(context, json, { documents, mended }, text);
}

const showEveryMs = 5_000;

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
