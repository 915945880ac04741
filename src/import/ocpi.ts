import type { Address } from '../protocol/catalog.ts';
import type { Geometry } from '../protocol/geojson.ts';
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';
import { readNumber } from './cell-values.ts';
import { chargersOfEvse, isUsable } from './ocpi-evse.ts';
import { noteRest, type Report, textOf } from './ocpi-members.ts';
import { findAddress, findPoint, whyNoPoint } from './place.ts';
import type { Problem, Station } from './station.ts';

/**
 * OCPI 2.2.1 locations as charging stations: a Location is a station, each Connector of each EVSE a charger. docs/importing.md
 * has the table of fields. A Location that its owner does not want shown to the public (`publish` false) is left out.
 */
export interface OcpiStations {
  stations: Station[];
  problems: Problem[];
  /** Locations in the file. */
  count: number;
}

/** Throws an Error with a plain sentence when the document is none of the known shapes. */
export function stationsOfOcpi(document: Json): OcpiStations {
  const locations = locationsOf(document);
  const problems: Problem[] = [];
  const stations = locations.flatMap(
    (location, index) => stationOf(location, placeOf(location, index), problems) ?? [],
  );
  return { stations, problems, count: locations.length };
}

/** One location, an array of them, or the answer of an OCPI endpoint that holds either. */
function locationsOf(document: Json): Json[] {
  if (Array.isArray(document)) return document;
  if (!isJsonObject(document)) throw new Error('it holds no OCPI location');
  if (!('status_code' in document) && !('data' in document)) return [document];
  const { status_code: status = 1000, status_message: message, data } = document;
  const isSuccess = typeof status === 'number' && status >= 1000 && status < 2000;
  if (!isSuccess)
    throw new Error(`it is the answer of an OCPI endpoint that failed: ${status} ${message ?? ''}`.trim());
  if (data === undefined || data === null) throw new Error('it is an OCPI answer without data');
  return locationsOf(data);
}

function placeOf(location: Json, index: number): string {
  const id = isJsonObject(location) ? textOf(location.id) : undefined;
  return id === undefined ? `location ${index + 1}` : `location ${index + 1} (${id})`;
}

function stationOf(location: Json, at: string, problems: Problem[]): Station | undefined {
  const report: Report = (why, more) => void problems.push({ at, why, kind: 'value', ...more });
  if (!isJsonObject(location)) {
    report('is no object', { kind: 'left-out' });
    return undefined;
  }
  const [country, party, id] = ['country_code', 'party_id', 'id'].map((member) => textOf(location[member]));
  if (country === undefined || party === undefined || id === undefined) {
    report('needs country_code, party_id and id', { kind: 'left-out' });
    return undefined;
  }
  const owner = `${country}*${party}`;
  if (location.publish === false) {
    report('is left out: it is not to be shown to the public', {
      column: 'publish',
      value: 'false',
      kind: 'note',
    });
    return undefined;
  }
  noteRest(location, carriedMembers, '', report);
  if (isJsonObject(location.operator)) noteRest(location.operator, ['name'], 'operator.', report);

  const name = textOf(location.name) ?? textOf(location.address);
  const operatorName = isJsonObject(location.operator) ? textOf(location.operator.name) : undefined;
  const evses = Array.isArray(location.evses) ? location.evses : [];
  const chargers = evses.flatMap((evse, index) =>
    chargersOfEvse(evse, { at, path: `evses[${index}]`, owner, stationName: name, report }),
  );
  if (chargers.length === 0) report('has no connector that could become a charger', { kind: 'left-out' });
  return {
    at,
    id: `${owner}*${id}`,
    name,
    operator: { id: owner, name: operatorName ?? owner },
    isActive: evses.some(isUsable),
    geo: pointOf(location.coordinates, report),
    address: addressOf(location),
    chargers,
  };
}

/** What a station is made of, and what is about the record and not about the station. */
const carriedMembers = [
  ...['country_code', 'party_id', 'id', 'publish', 'publish_allowed_to', 'name', 'operator', 'evses'],
  ...['address', 'city', 'postal_code', 'state', 'country', 'coordinates', 'last_updated'],
];

function pointOf(coordinates: Json | undefined, report: Report): Geometry | undefined {
  const { latitude, longitude } = isJsonObject(coordinates) ? coordinates : {};
  const [north, east] = [latitude, longitude].map((degrees) => readNumber(textOf(degrees) ?? ''));
  const point = findPoint(north, east);
  const value = JSON.stringify(coordinates);
  if (!point) report(whyNoPoint(north, east), { column: 'coordinates', value });
  return point;
}

function addressOf(location: JsonObject): Address | undefined {
  return findAddress({
    street: textOf(location.address),
    city: textOf(location.city),
    region: textOf(location.state),
    postalCode: textOf(location.postal_code),
    country: textOf(location.country),
  });
}
