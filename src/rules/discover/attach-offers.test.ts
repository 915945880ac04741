import { describe, expect, it } from 'vitest';
import type { Offer } from '../../protocol/catalog.ts';
import {
  type AttachedOffer,
  attachOffers,
  isStanding,
  type OfferingCatalog,
  type OfferTerms,
  termsOf,
} from './attach-offers.ts';

const now = new Date('2026-06-01T12:00:00Z');
const catalog = {
  owner: 'tea.example/reg',
  id: 'c1',
  providerId: 'p1',
  networkIds: ['n1', 'n2'],
  resourceIds: ['r0', 'r1', 'r2'],
};
const offersOnly: OfferingCatalog = { ...catalog, id: 'c2', networkIds: ['n2', 'n3'] };

const published = (offer: Offer, from: OfferingCatalog = catalog) => ({ ...termsOf(offer, from), offer });
const offersOf = (attached: readonly AttachedOffer<OfferTerms & { offer: Offer }>[]) =>
  attached.map(({ offer: { offer } }) => offer);
const attach = (offer: Partial<Offer>, from: OfferingCatalog = catalog) =>
  attachOffers(catalog, [published({ id: 'o', ...offer }, from)], now);
const indexesOf = (offer: Partial<Offer>, from?: OfferingCatalog) => {
  const [attached] = attach(offer, from);
  return (
    attached && (attached.covers === 'all' ? [...catalog.resourceIds.keys()] : [...attached.covers].sort())
  );
};

describe('attachOffers', () => {
  it.each<[string, Partial<Offer>, OfferingCatalog, number[] | undefined]>([
    [
      'an own offer, to the resources that it names',
      { resourceIds: ['r2', 'r0', 'r0', 'r9'] },
      catalog,
      [0, 2],
    ],
    ['an own offer without resourceIds, to all', {}, catalog, [0, 1, 2]],
    ['an own offer of the same provider, to all', { provider: { id: 'p1' } }, catalog, [0, 1, 2]],
    ['an own offer of another provider, to none', { provider: { id: 'p2' } }, catalog, undefined],
    ['an offer that names nothing, to none', { resourceIds: [] }, catalog, undefined],
    ['an offer that names only unknown resources, to none', { resourceIds: ['r9'] }, catalog, undefined],
    ['an offer of another catalog by resourceIds', { resourceIds: ['r1'] }, offersOnly, [1]],
    ['an offer of another catalog of the provider', {}, offersOnly, [0, 1, 2]],
    [
      'an offer of a catalog of another provider, to none',
      {},
      { ...offersOnly, providerId: 'p2' },
      undefined,
    ],
    [
      'one that names the provider itself',
      { provider: { id: 'p1' } },
      { ...offersOnly, providerId: 'p2' },
      [0, 1, 2],
    ],
    [
      'one that names a resource of another provider',
      { resourceIds: ['r1'] },
      { ...offersOnly, providerId: 'p2' },
      [1],
    ],
    [
      'an offer of another owner, to none',
      { resourceIds: ['r1'] },
      { ...offersOnly, owner: 'x.example/reg' },
      undefined,
    ],
    ['an offer of another network, to none', {}, { ...offersOnly, networkIds: ['n3'] }, undefined],
    ['an offer for every network', {}, { ...offersOnly, networkIds: [] }, [0, 1, 2]],
    ['an offer in its validity', { validity: { startDate: '2026-06-01' } }, catalog, [0, 1, 2]],
    ['an offer outside its validity, to none', { validity: { endDate: '2026-05-31' } }, catalog, undefined],
  ])('attaches %s', (_, offer, from, indexes) => {
    expect(indexesOf(offer, from)).toEqual(indexes);
  });

  it('prefers an own offer to another of the same id, and the first of others', () => {
    const named = (name: string, from: OfferingCatalog) => published({ id: 'o', descriptor: { name } }, from);
    const third = { ...offersOnly, id: 'c3' };
    const offers = [named('second', offersOnly), named('third', third), named('own', catalog)];
    const names = (some: typeof offers) =>
      offersOf(attachOffers(catalog, some, now)).map(({ descriptor }) => descriptor?.name);
    expect(names(offers)).toEqual(['own']);
    expect(names(offers.slice(0, 2))).toEqual(['second']);
  });

  it("lets an offer that does not apply stand in nobody's way", () => {
    const expired = published({ id: 'o', validity: { endDate: '2020-01-01' } });
    const other = published({ id: 'o', descriptor: { name: 'other' } }, offersOnly);
    expect(offersOf(attachOffers(catalog, [expired, other], now))).toEqual([other.offer]);
  });

  it('attaches a standing offer to its own catalog at any time, whichever others there are', () => {
    const standing = { id: 'o' };
    const others = [
      { resourceIds: ['r1'] },
      { provider: { id: 'p' } },
      { validity: { startDate: '2020-01-01T00:00:00Z' } },
    ];
    expect(isStanding(standing)).toBe(true);
    for (const more of others) expect(isStanding({ ...standing, ...more } as Offer)).toBe(false);
    const before = published({ id: 'o' }, { ...catalog, id: 'earlier' });
    for (const year of [1970, 2999]) {
      const [attached, ...more] = attachOffers(
        catalog,
        [before, published(standing)],
        new Date(`${year}-01-01`),
      );
      expect([attached?.offer.offer, attached?.covers, more]).toEqual([standing, 'all', []]);
    }
  });

  it('attaches nothing to a catalog without resources', () => {
    expect(attachOffers({ ...catalog, resourceIds: [] }, [published({ id: 'o' })], now)).toEqual([]);
  });
});
