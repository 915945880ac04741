import type { CatalogDifference } from '../../import/sync-plan.ts';
import type { Catalog } from '../../protocol/catalog.ts';
import type { PublishMessage, PublishResult } from '../../protocol/publish-messages.ts';
import type { TriggerResult } from '../../protocol/trigger-messages.ts';

export interface CatalogSubmission {
  catalog: Catalog;
  updateMode: 'FULL' | 'MERGE';
}

/** Includes whether the catalog is active only if that changed in the source. */
export function mergeOf(difference: CatalogDifference): CatalogSubmission {
  const { remembered, resources, offers, hasOtherHead, isBack } = difference;
  const { isActive, ...head } = remembered.head;
  const catalog = {
    ...head,
    ...(hasOtherHead && isActive !== undefined && { isActive }),
    ...(isBack && { isActive: true }),
    resources,
    ...(offers.length > 0 && { offers }),
  };
  return { catalog, updateMode: 'MERGE' };
}

export function messageOf(submissions: readonly CatalogSubmission[], network: string[] = []): PublishMessage {
  return {
    catalogs: submissions.map(({ catalog }) => catalog),
    publishDirectives: submissions.map(({ catalog: { id: catalogId }, updateMode }) => ({
      ...{ catalogId, catalogType: 'REGULAR' as const, updateMode },
      ...(network.length > 0 && { visibleTo: network }),
    })),
  };
}

export function acceptedOf(results: readonly (PublishResult | TriggerResult)[]): string[] {
  return results.filter(({ status }) => status === 'ACCEPTED').map(({ catalogId }) => catalogId);
}
