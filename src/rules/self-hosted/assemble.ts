import type { ChangeReference, IndexEntry } from '../../protocol/signed-files.ts';
import {
  applyChangeFiles,
  type BaselineContent,
  type CatalogContent,
  type ChangeContent,
  contentOfBaseline,
} from './content.ts';
import { TrustFault } from './faults.ts';
import { announcedVersion, planReading } from './reading-plan.ts';

/** The catalog for a reader that has nothing of it yet. Undefined where the files do not lead to the announced version; throws a TrustFault where the changes leave neither a resource nor an offer. */
export function assembleCatalog(
  entry: IndexEntry,
  baseline: BaselineContent,
  changes: ReadonlyMap<ChangeReference, ChangeContent>,
): CatalogContent | undefined {
  const plan = planReading(entry, undefined, { cutoverFraction: 1 });
  if (plan.kind !== 'baseline') return undefined;
  const files = plan.changes.flatMap((reference) => changes.get(reference) ?? []);
  const content = applyChangeFiles(contentOfBaseline(baseline), files);
  if (content.resources.size + content.offers.size === 0) {
    const message = `After its changes, ${entry.catalogId} has neither a resource nor an offer.`;
    throw new TrustFault('entry', 'empty-catalog', message);
  }
  return content;
}

export function describeGap(entry: IndexEntry): string {
  return `${entry.catalogId} announces version ${announcedVersion(entry)}, but its files do not lead there.`;
}
