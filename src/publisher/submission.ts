import type { FileDirective, MasterDependency } from '../protocol/signed-files.ts';
import type { TriggerRequest } from '../protocol/trigger-messages.ts';
import type { CatalogContent } from '../rules/self-hosted/content.ts';
import { type Submission, submissionsOf } from '../rules/submission.ts';

// Turns each catalog of a trigger request into the new state of that catalog.

/** At the trigger a submitted catalog is the whole catalog, unless its directive says MERGE. */
export interface TriggerSubmission extends Omit<Submission, 'networkIds'> {
  networkIds?: string[];
  masters?: MasterDependency[];
  /** The request has no updateMode. */
  isModeDefault: boolean;
}

/** MASTER catalogs first, because others in the same request may extend them. */
export function triggerSubmissionsOf(message: NonNullable<TriggerRequest['message']>): TriggerSubmission[] {
  const directives = new Map(message.publishDirectives?.map((directive) => [directive.catalogId, directive]));
  return submissionsOf(message, '').map((submission) => {
    const { updateMode, visibleTo, dependencies } = directives.get(submission.catalog.id) ?? {};
    return {
      ...submission,
      updateMode: updateMode ?? 'FULL',
      isModeDefault: updateMode === undefined,
      networkIds: visibleTo && [...new Set(visibleTo)].sort(),
      masters: dependencies?.masters,
    };
  });
}

export type NextContent = Omit<CatalogContent, 'version'>;

/** A MERGE keeps everything that the request does not name, including what a resource extends if its directive is not repeated. */
export function nextContent(
  current: CatalogContent | undefined,
  { catalog, updateMode, extensions }: TriggerSubmission,
): NextContent {
  const { resources = [], offers = [], ...members } = catalog;
  const kept = updateMode === 'MERGE' ? current : undefined;
  const directives = new Map<string, FileDirective>(kept?.directives);
  for (const [resourceId, { extension }] of extensions)
    directives.set(resourceId, { resourceId, ...extension });
  return {
    members: { ...kept?.members, ...members },
    resources: upserted(kept?.resources, resources),
    offers: upserted(kept?.offers, offers),
    directives,
  };
}

function upserted<T extends { id: string }>(
  kept: ReadonlyMap<string, T> | undefined,
  items: readonly T[],
): ReadonlyMap<string, T> {
  const result = new Map(kept);
  for (const item of items) result.set(item.id, item);
  return result;
}
