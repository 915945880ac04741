import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Offer } from '../../protocol/catalog.ts';
import { attachOffers, type PublishedOffer } from '../../rules/discover/attach-offers.ts';
import { type CatalogState, isServed } from '../../rules/discover/served.ts';
import { boundsOf } from '../../rules/time-period.ts';
import { catalogKeyOf, keyOf } from './keys.ts';
import { findFirst, type Listing, listOffers, listOffersIn, type ProviderOffers } from './wide-offers.ts';

const now = new Date('2026-06-01T12:00:00Z');
const firstOffer = 2 ** 25;

/** A catalog of the one owner: its key is its position, from 1. */
interface Generated {
  providerId: string;
  networkIds: string[];
  isActive: boolean;
  /** Without resources, nothing is listed in it. */
  resourceIds: string[];
  offers: { id: string; resourceIds?: string[]; isOver: boolean }[];
}

const networks = fc.subarray(['a', 'b', 'c']);
const generated = fc.array(
  fc.record({
    providerId: fc.constantFrom('p', 'p', 'q'),
    networkIds: networks,
    isActive: fc.constantFrom(true, true, true, false),
    resourceIds: fc.subarray(['x', 'y'], { minLength: 1 }),
    offers: fc.uniqueArray(
      fc.record(
        {
          id: fc.constantFrom('1', '2', '3', '4'),
          resourceIds: fc.subarray(['x', 'y', 'z']),
          isOver: fc.boolean(),
        },
        { requiredKeys: ['id', 'isOver'] },
      ),
      { selector: ({ id }) => id, maxLength: 4 },
    ),
  }) as fc.Arbitrary<Generated>,
  { minLength: 1, maxLength: 5 },
);

describe('the wide offers of a provider', () => {
  it('are listed in each of its catalogs as the offers of all its catalogs are attached', () => {
    fc.assert(
      fc.property(generated, fc.constantFrom(undefined, 'a', 'b'), (catalogs, networkId) => {
        const listings = listOffers(providerOf(catalogs, 'p'), { now, networkId });
        for (const [position, catalog] of catalogs.entries()) {
          const home = position + 1;
          if (catalog.providerId !== 'p' || !isServed(stateOf(catalog), networkId, now)) continue;
          const listing = listingOf(listings, home);
          expect([...listOffersIn(listing, home)]).toEqual(attachedTo(catalogs, home, networkId));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('lead to the first of some offers that a catalog lists', () => {
    fc.assert(
      fc.property(generated, fc.infiniteStream(fc.nat()), (catalogs, numbers) => {
        const provider = providerOf(catalogs, 'p');
        const wanted = [...provider.keys]
          .map((key) => ({ key, at: numbers.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .slice(1)
          .map(({ key }) => key);
        for (const listing of listOffers(provider, { now })) {
          const found = findFirst(listing, wanted);
          for (const home of listing.homes) {
            const listed = new Set(listOffersIn(listing, home));
            const first = wanted.findIndex((key) => listed.has(key));
            expect(found.get(home) ?? -1).toBe(first);
          }
        }
      }),
    );
  });

  it('are one list for all catalogs where no ids collide, however many catalogs there are', () => {
    const catalogs = Array.from(
      { length: 100 },
      (_, position): Generated => ({
        ...{ providerId: 'p', networkIds: [], isActive: true, resourceIds: ['x'] },
        offers: [{ id: String(position), isOver: false }],
      }),
    );
    const [listing, ...others] = listOffers(providerOf(catalogs, 'p'), { now });
    expect(others).toEqual([]);
    expect(listing?.homes).toHaveLength(100);
    expect(listing?.departures.size).toBe(0);
    expect(listOffersIn(listing as Listing, 7)).toBe(listing?.common);
  });
});

function stateOf({ networkIds, isActive }: Generated): CatalogState {
  return { type: 'REGULAR', networkIds, isActive, schemaTypes: new Set() };
}

function listingOf(listings: readonly Listing[], home: number): Listing {
  const listing = listings.find(({ homes }) => homes.includes(home));
  if (listing === undefined) throw new Error(`catalog ${home} lists nothing`);
  return listing;
}

const over = { endDate: '2026-05-31' };

/** As the database is read (read-wide-offers.ts). */
function providerOf(catalogs: readonly Generated[], providerId: string): ProviderOffers {
  const offers = offersOf(catalogs);
  const wide = offers.filter((each) => !each.resourceIds && each.providerId === providerId);
  const homes = catalogs.flatMap((catalog, position) =>
    catalog.providerId === providerId ? position + 1 : [],
  );
  const ids = new Set(wide.map(({ id }) => id));
  return {
    keys: Float64Array.from(wide, ({ key }) => key),
    ids: Uint32Array.from(wide, ({ id }) => Number(id)),
    validity: new Map(wide.flatMap(({ key, isOver }) => (isOver ? [[key, boundsOf(over)]] : []))),
    rivals: offers.flatMap(({ key, id, resourceIds, isOver }) =>
      resourceIds && ids.has(id)
        ? {
            ...{ key, id: Number(id), validity: isOver ? boundsOf(over) : {} },
            homes: homes.filter((home) =>
              catalogs[home - 1]?.resourceIds.some((resourceId) => resourceIds.includes(resourceId)),
            ),
          }
        : [],
    ),
    homes,
    states: new Map(catalogs.map((catalog, position) => [position + 1, stateOf(catalog)])),
  };
}

function offersOf(catalogs: readonly Generated[]) {
  return catalogs.flatMap(({ offers, providerId }, position) =>
    offers.map((offer, number) => ({ ...offer, providerId, key: keyOf(position + 1, firstOffer + number) })),
  );
}

/** The keys of wide offers, by the rule over values. */
function attachedTo(catalogs: readonly Generated[], home: number, networkId: string | undefined): number[] {
  const offering = (position: number) => {
    const { providerId, networkIds, resourceIds } = catalogs[position] as Generated;
    return { owner: 'owner', id: String(position), providerId, networkIds, resourceIds };
  };
  const published = offersOf(catalogs).flatMap(({ key, id, resourceIds, isOver }): PublishedOffer[] => {
    const position = catalogKeyOf(key) - 1;
    if (!isServed(stateOf(catalogs[position] as Generated), networkId, now)) return [];
    const offer = { id, resourceIds, ...(isOver && { validity: over }), key } as Offer;
    return [{ offer, catalog: offering(position) }];
  });
  return attachOffers(offering(home - 1), published, now)
    .filter(({ offer }) => offer.resourceIds === undefined)
    .map(({ offer }) => (offer as Offer & { key: number }).key)
    .sort((a, b) => a - b);
}
