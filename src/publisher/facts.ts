import type { Attributes } from '../protocol/catalog.ts';
import type { IndexEntry, MasterDependency } from '../protocol/signed-files.ts';
import type { EntryFacts } from './entry.ts';
import type { OwnMaster } from './masters.ts';
import type { NextContent, TriggerSubmission } from './submission.ts';

// What the entry of a published catalog says of it.

export function factsOf(
  submission: TriggerSubmission,
  entry: IndexEntry | undefined,
  { next, isActive }: { next: NextContent; isActive: boolean },
  masters: ReadonlyMap<string, OwnMaster>,
): EntryFacts {
  const { catalog, catalogType, updateMode } = submission;
  const kept = updateMode === 'MERGE' ? (entry?.dependencies?.masters ?? []) : [];
  return {
    catalogId: catalog.id,
    catalogType,
    networkIds: networksOf(submission, entry),
    schemaTypes: schemaTypesOf(next, masters),
    isActive,
    masters: submission.masters ?? dependenciesOf(next, masters, kept),
  };
}

/** The networks that a catalog will be relevant to, undefined for all of them. A MERGE that names none keeps those it had. */
export function networksOf(
  { networkIds, updateMode }: Pick<TriggerSubmission, 'networkIds' | 'updateMode'>,
  entry: IndexEntry | undefined,
): string[] | undefined {
  return networkIds ?? (updateMode === 'MERGE' ? entry?.networkIds : undefined);
}

function dependenciesOf(
  { directives }: NextContent,
  masters: ReadonlyMap<string, OwnMaster>,
  kept: readonly MasterDependency[],
): MasterDependency[] {
  const byCatalog = new Map(kept.map((dependency) => [dependency.catalogId, dependency]));
  for (const { extends: template } of directives.values()) {
    const dependency = masters.get(template.masterResourceId)?.dependency;
    if (dependency) byCatalog.set(dependency.catalogId, dependency);
  }
  return [...byCatalog.values()].sort((one, other) => (one.catalogId < other.catalogId ? -1 : 1));
}

/** Absent where there are none, and where they cannot all be known because a template is somebody else's. */
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
