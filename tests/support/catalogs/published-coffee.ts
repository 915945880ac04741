import type { Catalog } from '../../../src/protocol/catalog.ts';
import type { PublishDirective } from '../../../src/protocol/publish-messages.ts';
import type { TriggerRequest } from '../../../src/protocol/trigger-messages.ts';
import { publishCatalogs } from '../../../src/publisher/publish.ts';
import { type ReadCatalog, readTree, servedFiles, type TestTree } from '../hosted/published-tree.ts';

// A catalog of coffee, and its published files.

export function coffee(size = 1) {
  return {
    id: 'coffee',
    descriptor: { name: 'Coffee' },
    provider: { id: 'p1', descriptor: { name: 'A roaster' } },
    resources: Array.from({ length: size }, (_, index): NonNullable<Catalog['resources']>[number] => {
      return { id: `r${index}`, descriptor: { name: `Roast ${index}`, longDesc: 'beans '.repeat(60) } };
    }),
  };
}

/** Publishes a catalog; `request` adds to the request. Returns the result. */
export async function publish(tree: TestTree, catalog: Catalog, request: TriggerRequest = {}) {
  const { results } = await publishCatalogs(tree, { message: { catalogs: [catalog] }, ...request });
  return results[0];
}

export async function publishAs(tree: TestTree, catalog: Catalog, directive: PublishDirective) {
  return publish(tree, catalog, { message: { catalogs: [catalog], publishDirectives: [directive] } });
}

/** The catalog as a reader finds it. */
export async function published(tree: TestTree, catalogId: string): Promise<ReadCatalog> {
  const catalog = (await readTree(tree)).get(catalogId);
  if (!catalog) throw new Error(`${catalogId} is not published`);
  return catalog;
}

export async function contentFiles(tree: TestTree): Promise<string[]> {
  return [...(await servedFiles(tree)).keys()].filter((path) => path.startsWith('catalogs/'));
}

/** The newest change file of the coffee. */
export async function lastChange(tree: TestTree): Promise<unknown> {
  const { entry } = await published(tree, 'coffee');
  const path = entry.changes.at(-1)?.url.slice(tree.baseUrl.length + 1) ?? '';
  return JSON.parse((await servedFiles(tree)).get(path)?.toString() ?? '{}');
}
