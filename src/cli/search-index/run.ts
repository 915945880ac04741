import { describeDifference, maintainIndex } from '../../search/port.ts';
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
  await withDatabase(context, async (database, config) => {
    let toldAt = performance.now();
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
    printResult(context, json, { catalogs, documents, version }, text);
  });
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
