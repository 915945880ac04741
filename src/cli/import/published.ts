import type { Config } from '../../config.ts';
import { isImportedOffer } from '../../import/tariff-offer.ts';
import type { Catalog } from '../../protocol/catalog.ts';
import type { WireProfile } from '../../protocol/signed-document.ts';
import { isPaused } from '../../publisher/activity.ts';
import type { PublishedCatalog } from '../../publisher/build.ts';
import { type PublishedTree, readPublishedTree } from '../../publisher/published.ts';
import { findTreeProblem } from '../../publisher/tree-problem.ts';
import { CommandError, counted, joinSome } from '../command.ts';

// Changes by an operator to an imported catalog, which are not in the list. A publish replaces the whole catalog, so imports copy these changes into
// the new one.

/** Nothing is published if the directory does not exist yet. */
export async function readPublished({ publisherDir }: Config): Promise<PublishedTree> {
  try {
    return await readPublishedTree(publisherDir);
  } catch (error) {
    const problem = findTreeProblem(error);
    throw problem === undefined ? error : new CommandError(problem, error);
  }
}

/** Copies the operator's changes into catalogs, and counts them. */
export function createKeeper(profile: WireProfile) {
  let [offers, withOffers] = [0, 0];
  const paused: string[] = [];
  const unreadable: string[] = [];
  return {
    keep(catalog: Catalog, current: PublishedCatalog | undefined): Catalog {
      const next = withOperatorsWork(catalog, current, profile);
      const added = (next.offers?.length ?? 0) - (catalog.offers?.length ?? 0);
      offers += added;
      if (added > 0) withOffers += 1;
      if (isPaused(current, profile)) paused.push(catalog.id);
      if (current && !current.content && current.entry.retiredAt === undefined) unreadable.push(catalog.id);
      return next;
    },
    render(): string[] {
      const own = `${counted(offers, 'offer')} of ${counted(withOffers, 'catalog')}`;
      return [
        ...(offers > 0 ? [`Kept from the published catalogs: ${own}.`] : []),
        ...(paused.length > 0 ? [`Still paused: ${joinSome(paused)}.`] : []),
        ...(unreadable.length > 0
          ? [`The published files cannot be read back, so no offer could be kept: ${joinSome(unreadable)}.`]
          : []),
      ];
    },
  };
}

/**
 * Offers without an import's mark are the operator's. An import does not mark a paused catalog as out of use:
 * otherwise it would become active again as soon as a list no longer marks it so.
 */
function withOperatorsWork(catalog: Catalog, current: PublishedCatalog | undefined, profile: WireProfile) {
  const { isActive: _, ...silent } = catalog;
  const own = [...(current?.content?.offers.values() ?? [])].filter((offer) => !isImportedOffer(offer));
  const offers = [...(catalog.offers ?? []), ...own];
  return { ...(isPaused(current, profile) ? silent : catalog), ...(offers.length > 0 && { offers }) };
}
