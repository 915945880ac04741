import { addTo } from '../group.ts';
import type { Resource } from '../protocol/catalog.ts';
import type { FileDirective, IndexEntry, MasterDependency } from '../protocol/signed-files.ts';
import { sharesNetwork } from '../rules/extends.ts';
import type { TreeEdit } from './edit.ts';
import { type EntryFacts, factsOfEntry } from './entry.ts';
import { indexUrl } from './indexes.ts';
import type { PublisherTree } from './tree.ts';

// The master resources that this node publishes. Catalogs may also extend other nodes' resources: these are unknown here, and readers find them
// through the registry (self-hosted spec: Errors, dependencies.masters).

export interface OwnMaster {
  resource: Resource;
  dependency: MasterDependency;
  networkIds?: string[];
}

/** By the id of the resource; duplicates in other MASTER catalogs of the tree follow. */
export type OwnMasters = ReadonlyMap<string, readonly OwnMaster[]>;

export async function readOwnMasters(tree: PublisherTree, edit: TreeEdit): Promise<OwnMasters> {
  const masters = new Map<string, OwnMaster[]>();
  for (const { indexName, entry } of edit.entries()) {
    const { catalogId, catalogType, networkIds, retiredAt } = entry;
    if (catalogType !== 'MASTER' || retiredAt !== undefined) continue;
    const { content } = await edit.read(entry);
    if (content === undefined) continue;
    const dependency = { catalogId, version: content.version, indexUrl: indexUrl(tree, indexName) };
    for (const [id, resource] of content.resources) addTo(masters, id, { resource, dependency, networkIds });
  }
  return masters;
}

/** The extended resources in MASTER catalogs of the tree with a shared network, by id. */
export function selectMasters(
  masters: OwnMasters,
  directives: Iterable<FileDirective>,
  networkIds: readonly string[] | undefined,
): Map<string, OwnMaster> {
  const selected = new Map<string, OwnMaster>();
  for (const { extends: template } of directives) {
    const candidates = masters.get(template.masterResourceId) ?? [];
    const near = candidates.find((candidate) => meet(candidate.networkIds, networkIds));
    if (near) selected.set(template.masterResourceId, near);
  }
  return selected;
}

/** The facts of an entry, with the current addresses of its masters' indexes. */
export function factsOfToday(tree: PublisherTree, edit: TreeEdit, entry: IndexEntry): EntryFacts {
  const facts = factsOfEntry(entry);
  const masters = facts.masters.map((dependency) => {
    const found = edit.find(dependency.catalogId);
    return found ? { ...dependency, indexUrl: indexUrl(tree, found.indexName) } : dependency;
  });
  return { ...facts, masters };
}

/** A catalog without networks is for all of them. */
function meet(one: readonly string[] | undefined, other: readonly string[] | undefined): boolean {
  return one === undefined || other === undefined || sharesNetwork(one, other);
}
