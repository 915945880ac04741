import type { Search } from '../candidates.ts';
import { inBatches } from '../documents/keys.ts';
import { findListings } from '../documents/read-wide-offers.ts';
import type { Listing } from '../documents/wide-offers.ts';
import {
  addTallies,
  type GeometryTally,
  judgeKeys,
  type LocatedConstraint,
  noGeometries,
} from './constraint.ts';

// Judges the geometries of wide offers by spatial constraints: once in a search for all catalogs that list the same offers.

/** So many are read and judged at a time. */
const offersAtOnce = 4_000;

interface JudgedListing {
  all: GeometryTally;
  /** Of each offer that has geometries. */
  offers: ReadonlyMap<number, GeometryTally>;
  /** What all catalogs list, the nearest first. */
  nearest: readonly number[];
}

export class OfferGeometries {
  private readonly search: Search;
  /** By the catalogs' keys; undefined where a catalog lists none. */
  private readonly listings = new Map<number, Listing | undefined>();
  private readonly judged = new Map<LocatedConstraint, Map<Listing, JudgedListing>>();

  constructor(search: Search) {
    this.search = search;
  }

  /** Makes ready for `find`: reads and judges what is not known of these catalogs. */
  async read(located: LocatedConstraint, homes: Iterable<number>): Promise<void> {
    const { database, plan, deadline } = this.search;
    const wanted = new Set(homes);
    const unknown = [...wanted].filter((home) => !this.listings.has(home));
    const found = await findListings(database, unknown, plan.scope);
    for (const home of unknown) this.listings.set(home, found.get(home));
    const judged = this.judged.get(located) ?? new Map<Listing, JudgedListing>();
    this.judged.set(located, judged);
    for (const home of wanted) {
      const listing = this.listings.get(home);
      if (listing === undefined || judged.has(listing)) continue;
      deadline.check();
      judged.set(listing, await this.judge(located, listing));
    }
  }

  /** What the constraint says of the wide offers that a catalog lists. Each departure is looked at, and nothing else. */
  find(located: LocatedConstraint, home: number): GeometryTally {
    const listing = this.listings.get(home);
    const judged = listing && this.judged.get(located)?.get(listing);
    if (judged === undefined) return noGeometries;
    const departure = listing?.departures.get(home);
    if (departure === undefined) return judged.all;
    const { without, own } = departure;
    const nearest = judged.nearest.find((key) => !without.has(key)) ?? Number.NaN;
    const tally = {
      ...judged.all,
      distance: judged.offers.get(nearest)?.distance ?? Number.POSITIVE_INFINITY,
    };
    for (const key of without) {
      const { asked, holds } = judged.offers.get(key) ?? noGeometries;
      tally.asked -= asked;
      tally.holds -= holds;
    }
    return own.reduce((sum, key) => addTallies(sum, judged.offers.get(key) ?? noGeometries), tally);
  }

  private async judge(located: LocatedConstraint, { common, departures }: Listing): Promise<JudgedListing> {
    const own = Array.from(departures.values(), (departure) => departure.own).flat();
    const keys = [...common, ...own];
    const offers = new Map<number, GeometryTally>();
    for (const batch of inBatches(keys, offersAtOnce))
      for (const [key, tally] of await judgeKeys(this.search, located, batch)) offers.set(key, tally);
    const isOwn = new Set(own);
    const shared = [...offers]
      .filter(([key]) => !isOwn.has(key))
      .sort(([, a], [, b]) => a.distance - b.distance);
    return {
      all: shared.reduce((sum, [, tally]) => addTallies(sum, tally), noGeometries),
      offers,
      nearest: shared.map(([key]) => key),
    };
  }
}
