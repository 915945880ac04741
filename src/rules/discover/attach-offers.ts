import type { Offer } from '../../protocol/catalog.ts';
import { isValidAt } from '../time-period.ts';
import { shareNetwork } from './served.ts';

// Offers meet resources at query time (catalog spec: Catalog, offer-only catalogs; Offer, resourceIds). Decided: only inside one
// owner and a shared network, by resourceIds or, without them, to all resources of the same provider, which is
// offer.provider or else that of the offer's catalog. So an offer may be listed in another catalog than its own.

/** A catalog as far as offers ask for it. */
export interface OfferingCatalog {
  /** Identity of the node that published it. */
  owner: string;
  id: string;
  providerId: string;
  networkIds: readonly string[];
}

export interface PublishedOffer {
  offer: Offer;
  /** Where it was published; a catalog that is served (served.ts). */
  catalog: OfferingCatalog;
}

export interface AttachedOffer {
  offer: Offer;
  /** Places in the catalog's list of resources. */
  covers: 'all' | ReadonlySet<number>;
}

/**
 * The offers that apply to resources of a catalog, its own ones first. Of two with the same id its own one stands, or
 * else the first.
 */
export function attachOffers(
  catalog: OfferingCatalog & { resourceIds: readonly string[] },
  offers: readonly PublishedOffer[],
  now: Date,
): AttachedOffer[] {
  const indexes = new Map(catalog.resourceIds.map((id, index) => [id, index]));
  const isOwn = ({ catalog: { owner, id } }: PublishedOffer) => owner === catalog.owner && id === catalog.id;
  const attached = new Map<string, AttachedOffer>();
  for (const published of [...offers.filter(isOwn), ...offers.filter((other) => !isOwn(other))]) {
    const { offer } = published;
    if (attached.has(offer.id) || !isValidAt(offer.validity, now)) continue;
    const covers = findCovered(published, catalog, indexes);
    if (covers !== undefined) attached.set(offer.id, { offer, covers });
  }
  return [...attached.values()];
}

function findCovered(
  { offer, catalog: from }: PublishedOffer,
  to: OfferingCatalog,
  indexes: ReadonlyMap<string, number>,
): AttachedOffer['covers'] | undefined {
  if (from.owner !== to.owner || !shareNetwork(from.networkIds, to.networkIds)) return undefined;
  if (offer.resourceIds === undefined) {
    const providerId = offer.provider?.id ?? from.providerId;
    return providerId === to.providerId && indexes.size > 0 ? 'all' : undefined;
  }
  const covered = new Set(offer.resourceIds.flatMap((id) => indexes.get(id) ?? []));
  return covered.size > 0 ? covered : undefined;
}

/**
 * Whether an offer is a standing one: it applies to all resources of its own catalog at any time, because a catalog lists its own offers whichever others there are. Those of other catalogs of
 * the provider it covers as any offer does.
 */
export function isStanding({ resourceIds, provider, validity }: Offer): boolean {
  return resourceIds === undefined && provider?.id === undefined && validity === undefined;
}

export function coversResource({ covers }: AttachedOffer, index: number): boolean {
  return covers === 'all' || covers.has(index);
}
