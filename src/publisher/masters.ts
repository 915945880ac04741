import type { Resource } from '../protocol/catalog.ts';
import type { FileDirective, MasterDependency } from '../protocol/signed-files.ts';
import { sharesNetwork } from '../rules/extends.ts';
import type { TreeEdit } from './edit.ts';
import { indexUrl } from './indexes.ts';
import type { PublisherTree } from './tree.ts';

// The master resources that this node publishes itself. What a catalog extends may as well be somebody else's: then nothing is known
// of it here, and readers find it through the registry (self-hosted spec: Errors, dependencies.masters).

export interface OwnMaster {
  resource: Resource;
  dependency: MasterDependency;
}

/** Those among the extended resources that a MASTER catalog of the tree, in a shared network, holds; by their id. */
export async function findOwnMasters(
  tree: PublisherTree,
  edit: TreeEdit,
  directives: Iterable<FileDirective>,
  networkIds: readonly string[] | undefined,
): Promise<Map<string, OwnMaster>> {
  const found = new Map<string, OwnMaster>();
  const wanted = new Set([...directives].map((directive) => directive.extends.masterResourceId));
  if (wanted.size === 0) return found;
  for (const { indexName, entry } of edit.entries()) {
    if (entry.catalogType !== 'MASTER' || entry.retiredAt !== undefined) continue;
    if (!meet(entry.networkIds, networkIds)) continue;
    const { content } = await edit.read(entry);
    if (content === undefined) continue;
    const { version, resources } = content;
    const dependency = { catalogId: entry.catalogId, version, indexUrl: indexUrl(tree, indexName) };
    for (const id of wanted) {
      const resource = resources.get(id);
      if (resource && !found.has(id)) found.set(id, { resource, dependency });
    }
  }
  return found;
}

/** A catalog that names no network is for all of them. */
function meet(one: readonly string[] | undefined, other: readonly string[] | undefined): boolean {
  return one === undefined || other === undefined || sharesNetwork(one, other);
}
