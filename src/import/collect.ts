import { type Address, Catalog, type Location, type Offer, type Resource } from '../protocol/catalog.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { validator } from '../protocol/validate.ts';
import type { Check } from '../rules/check-attributes.ts';
import { chargerResource } from './charger-resource.ts';
import { findDoubtfulPlaces } from './doubtful-places.ts';
import { isElsewhere, positionOf } from './place.ts';
import type { Charger, PerUnit, Problem, Station, Tariff } from './station.ts';
import { offerIdOf, tariffOffer } from './tariff-offer.ts';
import { slugOf } from './template.ts';

/**
 * From stations to catalogs that every receiver accepts (catalog spec: Catalog, Provider).
 *
 * Per station: the catalog is the station, its provider is the station under the operator's name, and the place stands where the
 * catalog spec has it, at the provider. Per operator, or per operator and region: one catalog for all its stations; the place stands at each charger.
 */
export interface Collector {
  add(station: Station): void;
  report(problem: Problem): void;
  finish(): Collected;
}

export interface Collected {
  catalogs: Catalog[];
  stationCount: number;
  chargerCount: number;
  offerCount: number;
  /** The operators of all stations that were read, by the id of the station. */
  operators: ReadonlyMap<string, string>;
  /** Ids of the stations that are held back, because their place looks wrong. */
  heldBack: readonly string[];
  /** The rows that chargers were made of: where they stand in the file. */
  taken: ReadonlySet<string>;
  problems: Problem[];
}

export interface CollectorOptions {
  per: PerUnit;
  checker: Check;
  /** Publishes stations whose place looks wrong. */
  keepDoubtful?: boolean;
}

export function createCollector({ per, checker, keepDoubtful = false }: CollectorOptions): Collector {
  const parts = new Map<string, Part>();
  const heads = new Map<string, Head>();
  const chargerIds = new Set<string>();
  const taken = new Set<string>();
  const operators = new Map<string, string>();
  const problems: Problem[] = [];
  const report = (problem: Problem) => void problems.push(problem);

  function isNew({ id, at }: Charger): boolean {
    const isRepeated = chargerIds.has(id);
    if (isRepeated) report({ at, value: id, why: 'is the id of an earlier charger', kind: 'left-out' });
    chargerIds.add(id);
    return !isRepeated;
  }

  function add(station: Station): void {
    operators.set(station.id, station.operator.id);
    const first = parts.get(station.id)?.station ?? station;
    if (first !== station && isElsewhere(station, first)) {
      const why = `is the id of the station at ${first.at} too, which is at another place`;
      report({ at: station.at, value: station.id, why, kind: 'left-out' });
      return;
    }
    if (first !== station) reportDifferences(station, first, report);
    const head = per === 'station' ? stationHead(first) : operatorHead(first, per);
    const chargers = per === 'station' ? station.chargers : station.chargers.map((one) => placed(one, first));
    const resources = chargers.filter(isNew).flatMap((one) => chargerResource(one, checker, report) ?? []);
    if (resources.length === 0) return;
    const fault = findFault({ ...head, resources });
    if (fault !== undefined) {
      report({ at: station.at, why: fault, kind: 'left-out' });
      return;
    }
    const catalogHead = heads.get(head.id) ?? head;
    if (per !== 'station') reportUnsaid(station, catalogHead, report);
    const part: Part = parts.get(station.id) ?? {
      catalogId: head.id,
      // Its chargers and tariffs have become resources and offers, which are all that is needed from here on.
      station: { ...station, chargers: [], tariffs: [] },
      resources: [],
      offers: new Map(),
    };
    part.resources.push(...resources);
    addOffers(part, station.tariffs ?? [], new Set(resources.map(({ id }) => id)));
    parts.set(station.id, part);
    heads.set(head.id, catalogHead);
    taken.add(station.at);
  }

  function finish(): Collected {
    const doubtful = findDoubts(parts.values(), report);
    const heldBack = keepDoubtful
      ? []
      : [...parts.values()].filter(({ station }) => doubtful.has(station.at));
    for (const { station } of heldBack) {
      parts.delete(station.id);
      taken.delete(station.at);
    }
    const catalogs = new Map<string, Catalog>();
    const counts = { stationCount: parts.size, chargerCount: 0, offerCount: 0 };
    for (const { catalogId, resources, offers } of parts.values()) {
      const catalog = catalogs.get(catalogId) ?? { ...(heads.get(catalogId) as Head), resources: [] };
      catalog.resources?.push(...resources);
      if (offers.size > 0) catalog.offers ??= [];
      catalog.offers?.push(...offers.values());
      catalogs.set(catalogId, catalog);
      counts.chargerCount += resources.length;
      counts.offerCount += offers.size;
    }
    return {
      catalogs: [...catalogs.values()],
      ...counts,
      operators,
      heldBack: heldBack.map(({ station }) => station.id),
      taken,
      problems,
    };
  }
  return { add, report, finish };
}

type Head = Omit<Catalog, 'resources'>;

/** What a catalog has of one station. */
interface Part {
  catalogId: string;
  /** As its first row describes it. */
  station: Station;
  resources: Resource[];
  /** By what they say, so that the same prices of several chargers are one offer. */
  offers: Map<string, Offer>;
}

/** The offers for those chargers that became resources. */
function addOffers(
  { station, offers }: Part,
  tariffs: readonly Tariff[],
  resourceIds: ReadonlySet<string>,
): void {
  for (const { chargerIds, ...tariff } of tariffs) {
    const covered = chargerIds.filter((id) => resourceIds.has(id));
    if (covered.length === 0) continue;
    const key = JSON.stringify(tariff);
    const known = offers.get(key);
    if (known) known.resourceIds?.push(...covered);
    else {
      const ids = new Set([...offers.values()].map(({ id }) => id));
      const given = tariff.id === undefined ? undefined : offerIdOf(station.id, tariff.id);
      const id = given !== undefined && !ids.has(given) ? given : numberedId(station.id, tariff.id, ids);
      offers.set(key, tariffOffer(id, { ...tariff, chargerIds }, covered));
    }
  }
}

/** Two tariffs of one id differ, or a tariff has none. */
function numberedId(stationId: string, tariffId: string | undefined, ids: ReadonlySet<string>): string {
  for (let number = tariffId === undefined ? 1 : 2; ; number += 1) {
    const id = offerIdOf(stationId, tariffId === undefined ? `${number}` : `${tariffId}-${number}`);
    if (!ids.has(id)) return id;
  }
}
type Report = (problem: Problem) => void;

function stationHead({ id, name, description, operator, isActive, ...place }: Station): Head {
  const location = locationOf(place);
  return {
    id,
    descriptor: { name: name ?? operator.name, ...(description !== undefined && { shortDesc: description }) },
    provider: { id, descriptor: { name: operator.name }, ...(location && { availableAt: [location] }) },
    // A list does not say that a catalog is active: whether one that is not out of use is, its operator decides.
    ...(isActive === false && { isActive }),
  };
}

function operatorHead({ operator: { id, name }, address }: Station, per: PerUnit): Head {
  const provider = { id, descriptor: { name } };
  if (per === 'operator') return { id, descriptor: { name }, provider };
  const region = regionOf(address);
  return { id: `${id}:${slugOf(region)}`, descriptor: { name: `${name}, ${region}` }, provider };
}

/** As the address names it; else the first two characters of the postal code, which are a region in most countries. */
function regionOf({ addressRegion, postalCode, addressCountry }: Address = {}): string {
  const parts = [addressCountry, addressRegion ?? postalCode?.slice(0, 2)];
  return parts.filter((part) => part !== undefined).join(' ') || 'elsewhere';
}

/** The charger with the place of its station, which it cannot inherit from an operator who is at many. */
function placed(charger: Charger, { description, ...place }: Station): Charger {
  const location = locationOf(place);
  const attributes = { ...charger.attributes, ...(location?.geo !== undefined && { location }) };
  return { description, ...charger, attributes };
}

function locationOf({ geo, address }: Location): Location | undefined {
  if (geo === undefined && address === undefined) return undefined;
  return { ...(geo !== undefined && { geo }), ...(address !== undefined && { address }) };
}

const check = validator(Catalog);

function findFault(catalog: Catalog): string | undefined {
  try {
    check(catalog);
    return undefined;
  } catch (error) {
    if (error instanceof ProtocolError) return error.message;
    throw error;
  }
}

/** Several rows may describe one station, a connector each; what the first says of the station stands. */
function reportDifferences(station: Station, first: Station, report: Report): void {
  const said = ({ name, operator, isActive, geo, address }: Station) => ({
    name,
    operator,
    isActive,
    geo,
    address,
  });
  const [now, before] = [said(station), said(first)];
  for (const member of Object.keys(now) as (keyof typeof now)[]) {
    const value = JSON.stringify(now[member]);
    if (value === JSON.stringify(before[member])) continue;
    const why = `is another ${member} for station ${station.id} than at ${first.at}, which stands`;
    report({ at: station.at, value, why, kind: 'value' });
  }
}

/** What a catalog of a whole operator cannot say of one of its stations. */
function reportUnsaid({ at, isActive, operator }: Station, { provider }: Head, report: Report): void {
  if (isActive === false) {
    report({
      at,
      why: 'is not active, which a catalog per operator cannot say of one station',
      kind: 'note',
    });
  }
  if (operator.name !== provider.descriptor.name) {
    const why = `is another name for operator ${provider.id} than ${provider.descriptor.name}, which stands`;
    report({ at, value: operator.name, why, kind: 'value' });
  }
}

/** Places that look wrong can only be told once all are known. Where the stations stand in the file whose places do. */
function findDoubts(parts: Iterable<Part>, report: Report): ReadonlySet<string> {
  const places = [...parts].flatMap(({ station: { at, geo, address } }) => {
    const [longitude, latitude] = (geo && positionOf(geo)) ?? [];
    if (latitude === undefined || longitude === undefined) return [];
    return [{ at, latitude, longitude, country: address?.addressCountry }];
  });
  const doubts = findDoubtfulPlaces(places);
  for (const { place, why } of doubts) {
    const value = `${place.latitude}, ${place.longitude}`;
    report({ at: place.at, value, why, kind: 'doubt' });
  }
  return new Set(doubts.map(({ place }) => place.at));
}
