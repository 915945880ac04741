import { variantKey, type WithTemplates } from '../rules/extends.ts';
import { TooMuchHere } from '../rules/inherited-bytes.ts';
import {
  type Known,
  masterResourceIdsOf,
  resourceIdsOf,
  type Submission,
  variantsOf,
} from '../rules/submission.ts';
import { type CatalogRow, findCatalog, lockCatalogId } from '../storage/catalog/catalogs.ts';
import { findResourceIds } from '../storage/catalog/documents.ts';
import {
  findContestedId,
  findMasters,
  findVariants,
  holdMasters,
  inheritedTable,
  lockMasterIds,
  sumInherited,
} from '../storage/catalog/masters.ts';
import type { Transaction } from '../storage/database.ts';
import { findExtensions, readTemplates } from '../storage/inherited.ts';

interface LoadOptions {
  publisher: string;
  /** Bytes inherited by earlier catalogs of the same publish. */
  inheritedBytes: number;
  forChange?: boolean;
}

/**
 * Loads the stored state of a submitted catalog and locks it until the transaction ends: the catalog, then the templates that it extends. A REGULAR
 * catalog is locked before its MASTERs, and a publish of a MASTER locks nothing else, so there are no deadlocks.
 *
 * With `forChange: false` nothing is locked: a dry run must not block a publish or wait for one.
 */
export async function loadKnown(
  tx: Transaction,
  submission: Submission,
  { publisher, inheritedBytes, forChange = true }: LoadOptions,
): Promise<{ stored: CatalogRow | undefined; known: Known }> {
  if (forChange && submission.catalogType === 'MASTER') await lockMasterIds(tx);
  const readCatalog = forChange ? lockCatalogId : findCatalog;
  const readMasters = forChange ? holdMasters : findMasters;
  const stored = await readCatalog(tx, submission.catalog.id);
  const extensions =
    stored && submission.catalogType === 'REGULAR'
      ? await findExtensions(tx, inheritedTable, stored.key, resourceIdsOf(submission))
      : new Map();
  const isWidened =
    stored && submission.networkIds.some((networkId) => !stored.visibleTo.includes(networkId));
  const masterResourceIds = changesType(stored, submission)
    ? []
    : masterResourceIdsOf(submission, extensions);
  const isInheriting = masterResourceIds.length > 0 && submission.catalogType === 'REGULAR';
  const known: Known = {
    stored: stored && {
      owner: stored.owner ?? undefined,
      catalogType: stored.type,
      members: JSON.parse(stored.members),
    },
    extensions,
    masters: masterResourceIds.length > 0 ? await readMasters(tx, masterResourceIds) : new Map(),
    servedIds:
      stored && submission.updateMode === 'FULL'
        ? await findResourceIds(tx, stored.key, resourceIdsOf(submission))
        : new Set(),
    variantHolders: stored ? await findVariantHolders(tx, stored.key, submission) : new Map(),
    contestedId:
      isWidened && submission.catalogType === 'MASTER'
        ? await findContestedId(tx, stored, submission.networkIds)
        : undefined,
    inherited: {
      catalog: stored?.inheritedBytes ?? 0,
      publish: inheritedBytes,
      publisher: isInheriting ? await sumInherited(tx, publisher) : 0,
    },
  };
  return { stored, known };
}

/** Runs a rule that asks for templates. Throws TooMuchHere instead of reading more than `maxBytes` of them. */
export async function supplyTemplates<T>(
  tx: Transaction,
  stored: CatalogRow | undefined,
  steps: WithTemplates<T>,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<T> {
  let left = maxBytes;
  let step = steps.next();
  while (!step.done) {
    for (const { bytes } of step.value) left -= bytes;
    if (left < 0) throw new TooMuchHere();
    step = steps.next(await readTemplates(tx, inheritedTable, stored?.key, step.value));
  }
  return step.value;
}

/** Such a publish is refused anyway, and must not lock masters: two REGULAR catalogs with the ids of MASTERs could deadlock. */
function changesType(stored: CatalogRow | undefined, { catalogType }: Submission): boolean {
  return stored !== undefined && stored.owner !== null && stored.type !== catalogType;
}

async function findVariantHolders(tx: Transaction, catalogKey: number, submission: Submission) {
  const claimed = variantsOf(submission);
  if (claimed.length === 0) return new Map();
  const held = await findVariants(tx, catalogKey, claimed);
  return new Map(held.map(({ id, extension }) => [variantKey(extension) ?? '', id]));
}
