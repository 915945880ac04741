import { hash } from 'node:crypto';
import { type Address, Catalog, type Location, Offer } from '../protocol/catalog.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { validator } from '../protocol/validate.ts';
import type { Check } from '../rules/check-attributes.ts';
import { chargerResource } from './charger-resource.ts';
import { findDoubtfulPlaces } from './doubtful-places.ts';
import {
  type CatalogHead,
  createPacker,
  type PackedCatalog,
  packCatalog,
  packRegion,
} from './packed-catalog.ts';
import { isElsewhere, positionOf } from './place.ts';
import type { Charger, PerUnit, Problem, Station } from './station.ts';
import { offersOf } from './tariff-offer.ts';
import { slugOf } from './template.ts';

export interface Collected {
  catalogs: PackedCatalog[];
  stationCount: number;
  chargerCount: number;
  offerCount: number;
  operators: ReadonlyMap<string, string>;
  heldBack: readonly string[];
  /** The rows that became chargers: `row 17`. */
  taken: ReadonlySet<string>;
  problems: Problem[];
}

export interface CollectorOptions {
  per: PerUnit;
  checker: Check;
  keepDoubtful?: boolean;
  known?: readonly string[];
}

/**
 * Makes catalogs that every receiver accepts from stations (catalog spec: Catalog, Provider).
 *
 * Per station: the catalog is the station, its provider is the station under the operator's name, and the place is at the provider, as
 * in the catalog spec. Per operator, or per operator and region: one catalog for all its stations; the place is at each charger.
 * A region with more chargers than crawlers accept in a file has several catalogs.
 */
export function createCollector(options: CollectorOptions) {
  const { per, checker, keepDoubtful = false, known = [] } = options;
  const parts = new Map<string, Part>();
  const packer = createPacker<string>();
  const heads = new Map<string, CatalogHead>();
  const chargerIds = new Set<string>();
  /** Keys of stations and prices: equal prices of several chargers are one offer. */
  const offerKeys = new Set<number>();
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
      const why = `is also the id of the station at ${first.at}, which is at another place`;
      report({ at: station.at, value: station.id, why, kind: 'left-out' });
      return;
    }
    if (first !== station) reportDifferences(station, first, report);
    const head = per === 'station' ? stationHead(first) : operatorHead(first, per);
    const chargers = per === 'station' ? station.chargers : station.chargers.map((one) => placed(one, first));
    const resources = chargers.filter(isNew).flatMap((one) => chargerResource(one, checker, report) ?? []);
    if (resources.length === 0) return;
    const fault = findFault(checkCatalog, { ...head, resources });
    if (fault !== undefined) {
      report({ at: station.at, why: fault, kind: 'left-out' });
      return;
    }
    const catalogHead = heads.get(head.id) ?? head;
    if (per !== 'station') reportUnsaid(station, catalogHead, report);
    const part: Part = parts.get(station.id) ?? {
      catalogId: head.id,
      // Chargers and tariffs are now resources and offers; the originals are no longer needed.
      station: { ...station, chargers: [], tariffs: [] },
      chargerCount: 0,
      offerCount: 0,
    };
    const tariffs = tariffsOf(station, new Set(resources.map(({ id }) => id)), report);
    packer.add(head.id, { stationId: station.id, resources, tariffs });
    part.chargerCount += resources.length;
    for (const { chargerIds: _, ...tariff } of tariffs) {
      const key = hash('sha256', JSON.stringify([station.id, tariff]), 'buffer').readUIntBE(0, 6);
      if (!offerKeys.has(key)) part.offerCount += 1;
      offerKeys.add(key);
    }
    parts.set(station.id, part);
    heads.set(head.id, catalogHead);
    taken.add(station.at);
  }

  function finish(): Collected {
    const doubtful = findDoubts(parts.values(), report);
    const heldBack = new Set<string>();
    const chargerCounts = new Map<string, number>();
    const counts = { stationCount: 0, chargerCount: 0, offerCount: 0 };
    for (const { catalogId, station, chargerCount, offerCount } of parts.values()) {
      if (doubtful.has(station.at) && !keepDoubtful) {
        heldBack.add(station.id);
        taken.delete(station.at);
        continue;
      }
      chargerCounts.set(catalogId, (chargerCounts.get(catalogId) ?? 0) + chargerCount);
      counts.stationCount += 1;
      counts.chargerCount += chargerCount;
      counts.offerCount += offerCount;
    }
    const packed = packer.finish();
    const makeCatalogs = per === 'region' ? packRegion : packCatalog;
    const catalogs = [...chargerCounts].flatMap(([id, resourceCount]) =>
      makeCatalogs(heads.get(id) as CatalogHead, packed.get(id) ?? [], {
        resourceCount,
        heldBack,
        known: new Set(known),
      }),
    );
    return { catalogs, ...counts, operators, heldBack: [...heldBack], taken, problems };
  }
  return { add, report, finish };
}

type Report = (problem: Problem) => void;

interface Part {
  catalogId: string;
  station: Station;
  chargerCount: number;
  offerCount: number;
}

function tariffsOf({ at, id, tariffs = [] }: Station, resourceIds: ReadonlySet<string>, report: Report) {
  const covering = tariffs.map((tariff) => ({
    ...tariff,
    chargerIds: tariff.chargerIds.filter((one) => resourceIds.has(one)),
  }));
  return covering.filter((tariff) => {
    const [offer] = offersOf(id, [tariff]);
    const why = offer && findFault(checkOffer, offer);
    if (why !== undefined) report({ at, column: 'tariffs', value: tariff.id, why, kind: 'value' });
    return offer && why === undefined;
  });
}

function stationHead({ id, name, description, operator, isActive, ...place }: Station): CatalogHead {
  const location = locationOf(place);
  return {
    id,
    descriptor: { name: name ?? operator.name, ...(description !== undefined && { shortDesc: description }) },
    provider: { id, descriptor: { name: operator.name }, ...(location && { availableAt: [location] }) },
    // The operator decides whether a catalog is active: a list only says which stations are out of use.
    ...(isActive === false && { isActive }),
  };
}

function operatorHead({ operator: { id, name }, address }: Station, per: PerUnit): CatalogHead {
  const provider = { id, descriptor: { name } };
  if (per === 'operator') return { id, descriptor: { name }, provider };
  const region = regionOf(address);
  return { id: `${id}:${slugOf(region)}`, descriptor: { name: `${name}, ${region}` }, provider };
}

/** The region in the address; otherwise the first two characters of the postal code, which are a region in most countries. */
function regionOf({ addressRegion, postalCode, addressCountry }: Address = {}): string {
  const parts = [addressCountry, addressRegion ?? postalCode?.slice(0, 2)];
  return parts.filter((part) => part !== undefined).join(' ') || 'elsewhere';
}

/** Adds the place of the station to a charger, which cannot inherit it from an operator with many places. */
function placed(charger: Charger, { description, ...place }: Station): Charger {
  const location = locationOf(place);
  const attributes = { ...charger.attributes, ...(location?.geo !== undefined && { location }) };
  return { description, ...charger, attributes };
}

function locationOf({ geo, address }: Location): Location | undefined {
  if (geo === undefined && address === undefined) return undefined;
  return { ...(geo !== undefined && { geo }), ...(address !== undefined && { address }) };
}

const checkCatalog = validator(Catalog);
const checkOffer = validator(Offer);

function findFault(check: (value: unknown) => unknown, value: object): string | undefined {
  try {
    check(value);
    return undefined;
  } catch (error) {
    if (error instanceof ProtocolError) return error.message;
    throw error;
  }
}

/** Several rows may describe one station, one connector each; the first row describes the station. */
function reportDifferences(station: Station, first: Station, report: Report): void {
  for (const member of ['name', 'operator', 'isActive', 'geo', 'address'] as const) {
    const value = JSON.stringify(station[member]);
    if (value === JSON.stringify(first[member])) continue;
    const why = `differs from the ${member} of station ${station.id} at ${first.at}, which is used`;
    report({ at: station.at, value, why, kind: 'value' });
  }
}

function reportUnsaid({ at, isActive, operator }: Station, { provider }: CatalogHead, report: Report): void {
  if (isActive === false) {
    const why = 'is not active, which a catalog per operator cannot express for one station';
    report({ at, why, kind: 'note' });
  }
  if (operator.name !== provider.descriptor.name) {
    const why = `is not the name of operator ${provider.id} used in the catalog, ${provider.descriptor.name}`;
    report({ at, value: operator.name, why, kind: 'value' });
  }
}

/** Doubtful places are known only after all places. Reports name the row of the station. */
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
