import { addTo } from '../../group.ts';
import { type CatalogState, isServed, shareNetwork } from '../../rules/discover/served.ts';
import { isWithin, type PeriodBounds } from '../../rules/time-period.ts';
import { lowerBound } from '../lists/posting-list.ts';
import { catalogKeyOf } from './keys.ts';
import type { Scope } from './scope.ts';

// Offers without resourceIds apply to all resources of a provider: each is one fact about the provider, and never paired with its resources, nor
// with its catalogs. Catalogs of a provider list the same of them, except where ids collide: of several with one id a catalog lists its own, or
// else the first (rules/discover/attach-offers.ts says the same of values). So a listing is what all list, and where single catalogs depart from
// it; departures come only from offers that a catalog has itself, or that name its resources: together they are no more than those.

/** The wide offers of one provider, and what decides in which of its catalogs each of them is listed. */
export interface ProviderOffers {
  /** In ascending order. */
  keys: Float64Array;
  /** Offers with the same id have the same number. */
  ids: Uint32Array;
  /** By the keys of those offers that have one. */
  validity: ReadonlyMap<number, PeriodBounds>;
  /** Offers with one of the ids that name resources instead. */
  rivals: readonly NamedRival[];
  /** The provider's catalogs. */
  homes: readonly number[];
  /** Of the catalogs of the provider and of all these offers. */
  states: ReadonlyMap<number, CatalogState | undefined>;
}

interface NamedRival {
  key: number;
  id: number;
  validity: PeriodBounds;
  /** The provider's catalogs that have one of the resources. */
  homes: readonly number[];
}

/** What catalogs of a provider list that see the same offers. */
export interface Listing {
  homes: readonly number[];
  /** What all of them list, in ascending order. */
  common: Float64Array;
  departures: ReadonlyMap<number, Departure>;
}

/** Where a catalog lists something else. */
interface Departure {
  without: Set<number>;
  own: number[];
}

/** In a network all catalogs see the same offers; across networks, those with the same networks do. */
export function listOffers(
  provider: ProviderOffers,
  { now, networkId }: Pick<Scope, 'now' | 'networkId'>,
): Listing[] {
  const served = new Map<number, CatalogState>();
  for (const [key, state] of provider.states)
    if (state && isServed(state, networkId, now)) served.set(key, state);
  const groups = new Map<string, number[]>();
  for (const home of provider.homes) {
    const state = served.get(home);
    if (state) addTo(groups, JSON.stringify(networkId === undefined ? state.networkIds : []), home);
  }
  return Array.from(groups, ([networks, homes]) => {
    const networkIds: string[] = JSON.parse(networks);
    const seen = [...served].filter(([, state]) => shareNetwork(state.networkIds, networkIds));
    return listFor(provider, homes, new Set(seen.map(([key]) => key)), now);
  });
}

/** What some catalogs list that see the offers of the same catalogs. */
function listFor(
  { keys, ids, validity, rivals }: ProviderOffers,
  homes: readonly number[],
  seen: ReadonlySet<number>,
  now: Date,
): Listing {
  const among = new Set(homes);
  const departures = new Map<number, Departure>();
  const depart = (home: number): Departure => {
    const departure = departures.get(home) ?? { without: new Set(), own: [] };
    departures.set(home, departure);
    return departure;
  };
  const firsts = new Map<number, number>();
  const common = new Float64Array(keys.length);
  let count = 0;
  for (let position = 0; position < keys.length; position++) {
    const key = keys[position] as number;
    const catalogKey = catalogKeyOf(key);
    if (!seen.has(catalogKey) || !isWithin(validity.get(key) ?? always, now)) continue;
    const first = firsts.get(ids[position] as number);
    if (first === undefined) {
      firsts.set(ids[position] as number, key);
      common[count++] = key;
    } else if (among.has(catalogKey)) {
      const departure = depart(catalogKey);
      departure.own.push(key);
      departure.without.add(first);
    }
  }
  for (const rival of rivals) {
    const first = firsts.get(rival.id);
    const from = catalogKeyOf(rival.key);
    if (first === undefined || !seen.has(from) || !isWithin(rival.validity, now)) continue;
    for (const home of rival.homes) {
      if (!among.has(home) || catalogKeyOf(first) === home) continue;
      if (from === home || rival.key < first) depart(home).without.add(first);
    }
  }
  return { homes, common: common.subarray(0, count), departures };
}

const always: PeriodBounds = {};

/** The offers that one catalog lists, in ascending order. */
export function listOffersIn({ common, departures }: Listing, home: number): Float64Array {
  const departure = departures.get(home);
  if (departure === undefined) return common;
  const { without, own } = departure;
  return Float64Array.from([...common.filter((key) => !without.has(key)), ...own]).sort();
}

/** The first of some offers that each catalog lists, by its index among them; catalogs that list none are left out. */
export function findFirst(listing: Listing, wanted: ArrayLike<number>): Map<number, number> {
  const { homes, common, departures } = listing;
  const shared: number[] = [];
  const positions = departures.size > 0 ? new Map<number, number>() : undefined;
  for (let position = 0; position < wanted.length; position++) {
    const key = wanted[position] as number;
    if (common[lowerBound(common, key)] === key) shared.push(position);
    positions?.set(key, position);
    if (positions === undefined && shared.length > 0) break;
  }
  const found = new Map<number, number>();
  for (const home of homes) {
    const departure = departures.get(home);
    let position = departure
      ? shared.find((each) => !departure.without.has(wanted[each] as number))
      : shared[0];
    for (const key of departure?.own ?? []) {
      const own = positions?.get(key);
      if (own !== undefined && (position === undefined || own < position)) position = own;
    }
    if (position !== undefined) found.set(home, position);
  }
  return found;
}
