import type { Attributes } from '../protocol/catalog.ts';
import type { IndexEntry, MasterDependency } from '../protocol/signed-files.ts';
import type { EntryFacts } from './entry.ts';
import type { OwnMaster } from './masters.ts';
import type { NextContent, TriggerSubmission } from './submission.ts';

export function factsOf(
  submission: TriggerSubmission,
  entry: IndexEntry | undefined,
  { next, isActive }: { next: NextContent; isActive: boolean },
  { masters, isInTree }: { masters: ReadonlyMap<string, OwnMaster>; isInTree(catalogId: string): boolean },
): EntryFacts {
  const { catalog, catalogType, updateMode } = submission;
  const former = (updateMode === 'MERGE' && entry?.dependencies?.masters) || [];
  const kept = former.filter(({ catalogId }) => !isInTree(catalogId));
  return {
    catalogId: catalog.id,
    catalogType,
    networkIds: networksOf(submission, entry),
    schemaTypes: schemaTypesOf(next, masters),
    isActive,
    masters: dependenciesOf(next, masters, { given: submission.masters, kept }),
  };
}

/** The networks of a catalog, undefined for all. A MERGE without networks keeps the previous ones. */
export function networksOf(
  { networkIds, updateMode }: Pick<TriggerSubmission, 'networkIds' | 'updateMode'>,
  entry: IndexEntry | undefined,
): string[] | undefined {
  return networkIds ?? (updateMode === 'MERGE' ? entry?.networkIds : undefined);
}

/** Masters in this tree, and other nodes' masters: the given ones, or the kept ones while a resource extends a master outside the tree. */
function dependenciesOf(
  { directives }: NextContent,
  masters: ReadonlyMap<string, OwnMaster>,
  { given, kept }: { given?: readonly MasterDependency[]; kept: readonly MasterDependency[] },
): MasterDependency[] {
  const byCatalog = new Map<string, MasterDependency>();
  let extendsOthers = false;
  for (const { extends: template } of directives.values()) {
    const own = masters.get(template.masterResourceId)?.dependency;
    if (own) byCatalog.set(own.catalogId, own);
    else extendsOthers = true;
  }
  for (const dependency of given ?? (extendsOthers ? kept : []))
    byCatalog.set(dependency.catalogId, dependency);
  return [...byCatalog.values()].sort((one, other) => (one.catalogId < other.catalogId ? -1 : 1));
}

/** Absent if there are none, or if they are unknown because a template is another node's. */
function schemaTypesOf(
  { resources, offers, directives }: NextContent,
  masters: ReadonlyMap<string, OwnMaster>,
): string[] | undefined {
  const contexts = new Set<string>();
  const add = (attributes: Attributes | undefined) => {
    if (attributes) contexts.add(attributes['@context']);
  };
  for (const resource of resources.values()) add(resource.resourceAttributes);
  for (const { offerAttributes, considerations = [] } of offers.values()) {
    add(offerAttributes);
    for (const { considerationAttributes } of considerations) add(considerationAttributes);
  }
  for (const { extends: template } of directives.values()) {
    const master = masters.get(template.masterResourceId);
    if (master === undefined) return undefined;
    add(master.resource.resourceAttributes);
  }
  return contexts.size === 0 ? undefined : [...contexts].sort();
}
