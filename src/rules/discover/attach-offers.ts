import type { Offer } from '../../protocol/catalog.ts';
import { networksMeet } from '../extends.ts';
import { boundsOf, isWithin, type PeriodBounds } from '../time-period.ts';

// Attaches offers to resources at query time (catalog spec: Catalog, offer-only catalogs; Offer, resourceIds). Decided: only of one owner and in a shared network, by resourceIds or, without them, to all
// resources of the same provider: offer.provider, or else that of the offer's catalog. A catalog is searched only with its own offers; found resources get those of other catalogs.

export interface OfferingCatalog {
  owner: string;
  id: string;
  providerId: string;
  networkIds: readonly string[];
}

export interface OfferTerms {
  id: string;
  /** None: all resources of the provider. */
  resourceIds?: readonly string[] | null;
  /** The provider that the offer names, or else that of its catalog. */
  providerId: string;
  validity: PeriodBounds;
  /** The catalog that published it; one that is served (served.ts). */
  catalog: OfferingCatalog;
}

export function termsOf({ id, resourceIds, provider, validity }: Offer, catalog: OfferingCatalog) {
  const providerId = provider?.id ?? catalog.providerId;
  return { id, resourceIds, providerId, validity: boundsOf(validity), catalog };
}

/** Which resources of a catalog an offer covers now: all, or those with some ids, which the catalog may lack. Undefined if it covers none. */
export function findCovers(
  { resourceIds, providerId, validity, catalog: from }: OfferTerms,
  to: OfferingCatalog,
  now: Date,
): 'all' | readonly string[] | undefined {
  if (from.owner !== to.owner || !networksMeet(from.networkIds, to.networkIds)) return undefined;
  if (!isWithin(validity, now)) return undefined;
  return resourceIds ?? (providerId === to.providerId ? 'all' : undefined);
}

export interface AttachedOffer<T = OfferTerms> {
  offer: T;
  covers: 'all' | ReadonlySet<number>;
}

/** The offers that apply to resources of a catalog, its own first. If two have the same id, its own one wins, or else the first. */
export function attachOffers<T extends OfferTerms>(
  catalog: OfferingCatalog & { resourceIds: readonly string[] },
  offers: readonly T[],
  now: Date,
): AttachedOffer<T>[] {
  const indexes = new Map(catalog.resourceIds.map((id, index) => [id, index]));
  const isOwn = ({ catalog: { owner, id } }: T) => owner === catalog.owner && id === catalog.id;
  const attached = new Map<string, AttachedOffer<T>>();
  for (const offer of [...offers.filter(isOwn), ...offers.filter((other) => !isOwn(other))]) {
    if (attached.has(offer.id)) continue;
    const named = findCovers(offer, catalog, now);
    const covers = typeof named === 'object' ? new Set(named.flatMap((id) => indexes.get(id) ?? [])) : named;
    const isNone = covers === undefined || (covers === 'all' ? indexes.size : covers.size) === 0;
    if (!isNone) attached.set(offer.id, { offer, covers });
  }
  return [...attached.values()];
}

/** Whether an offer covers all resources of its own catalog at any time. */
export function isStanding({ resourceIds, provider, validity }: Offer): boolean {
  return resourceIds === undefined && provider?.id === undefined && validity === undefined;
}
