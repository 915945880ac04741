import { Catalog, type Location } from '../protocol/catalog.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { validator } from '../protocol/validate.ts';
import type { Check } from '../rules/check-attributes.ts';
import { chargerResource } from './charger-resource.ts';
import { findDoubtfulPlaces } from './doubtful-places.ts';
import { isElsewhere, positionOf } from './place.ts';
import type { Charger, PerUnit, Problem, Station } from './station.ts';

/**
 * From stations to catalogs that every receiver accepts (catalog spec: Catalog, Provider).
 *
 * Per station: the catalog is the station, its provider is the station under the operator's name, and the place stands where the
 * catalog spec has it, at the provider. Per operator: one catalog for all its stations; the place stands at each charger.
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
  /** The rows that chargers were made of: where they stand in the file. */
  taken: ReadonlySet<string>;
  problems: Problem[];
}

export function createCollector({ per, checker }: { per: PerUnit; checker: Check }): Collector {
  const stations = new Map<string, Station>();
  const catalogs = new Map<string, Catalog>();
  const chargerIds = new Set<string>();
  const taken = new Set<string>();
  const problems: Problem[] = [];
  const report = (problem: Problem) => void problems.push(problem);

  function isNew({ id, at }: Charger): boolean {
    const isRepeated = chargerIds.has(id);
    if (isRepeated) report({ at, value: id, why: 'is the id of an earlier charger', kind: 'left-out' });
    chargerIds.add(id);
    return !isRepeated;
  }

  function add(station: Station): void {
    const first = stations.get(station.id) ?? station;
    if (first !== station && isElsewhere(station, first)) {
      const why = `is the id of the station at ${first.at} too, which is at another place`;
      report({ at: station.at, value: station.id, why, kind: 'left-out' });
      return;
    }
    if (first !== station) reportDifferences(station, first, report);
    const head = per === 'station' ? stationHead(first) : operatorHead(first);
    const chargers = per === 'station' ? station.chargers : station.chargers.map((one) => placed(one, first));
    const resources = chargers.filter(isNew).flatMap((one) => chargerResource(one, checker, report) ?? []);
    if (resources.length === 0) return;
    const fault = findFault({ ...head, resources });
    if (fault !== undefined) {
      report({ at: station.at, why: fault, kind: 'left-out' });
      return;
    }
    const catalog = catalogs.get(head.id) ?? { ...head, resources: [] };
    if (per === 'operator') reportUnsaid(station, catalog, report);
    catalog.resources?.push(...resources);
    stations.set(station.id, first);
    catalogs.set(head.id, catalog);
    taken.add(station.at);
  }

  function finish(): Collected {
    reportDoubts(stations.values(), report);
    return {
      catalogs: [...catalogs.values()],
      stationCount: stations.size,
      chargerCount: [...catalogs.values()].reduce((sum, { resources = [] }) => sum + resources.length, 0),
      taken,
      problems,
    };
  }
  return { add, report, finish };
}

type Head = Omit<Catalog, 'resources'>;
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

function operatorHead({ operator: { id, name } }: Station): Head {
  return { id, descriptor: { name }, provider: { id, descriptor: { name } } };
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
function reportUnsaid(
  { at, isActive, operator }: Station,
  { id, descriptor }: Catalog,
  report: Report,
): void {
  if (isActive === false) {
    report({
      at,
      why: 'is not active, which a catalog per operator cannot say of one station',
      kind: 'note',
    });
  }
  if (operator.name !== descriptor.name) {
    const why = `is another name for operator ${id} than ${descriptor.name}, which stands`;
    report({ at, value: operator.name, why, kind: 'value' });
  }
}

/** Places that look wrong can only be told once all are known. The station stays as the list has it. */
function reportDoubts(stations: Iterable<Station>, report: Report): void {
  const places = [...stations].flatMap(({ at, geo, address }) => {
    const [longitude, latitude] = (geo && positionOf(geo)) ?? [];
    if (latitude === undefined || longitude === undefined) return [];
    return [{ at, latitude, longitude, country: address?.addressCountry }];
  });
  for (const { place, why } of findDoubtfulPlaces(places)) {
    const value = `${place.latitude}, ${place.longitude}`;
    report({ at: place.at, value, why, kind: 'doubt' });
  }
}
