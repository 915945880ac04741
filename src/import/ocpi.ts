import type { Address } from '../protocol/catalog.ts';
import type { Geometry } from '../protocol/geojson.ts';
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';
import type { JsonItems } from '../protocol/json-items.ts';
import { readNumber, textOf } from './cell-values.ts';
import { noteRest } from './field-table.ts';
import { chargersOfEvse } from './ocpi-evse.ts';
import { ocpiFields } from './ocpi-fields.ts';
import { tariffOf } from './ocpi-tariff.ts';
import { openingAttributes } from './opening-hours.ts';
import { findAddress, findPoint, whyNoPoint } from './place.ts';
import {
  type Problem,
  type Report,
  reporter,
  type Station,
  type StationReading,
  type Tariff,
} from './station.ts';

/**
 * OCPI 2.2.1 and 2.3.0 locations as charging stations: a Location is a station, each Connector of each EVSE a charger. docs/charging.md
 * has the table of fields. A Location that is not public (`publish` false) is left out.
 *
 * @param tariffs the tariffs of the connectors
 */
export function stationsOfOcpi(locations: JsonItems, tariffs: JsonItems = []): StationReading {
  const problems: Problem[] = [];
  const findTariff = createTariffs(tariffs, problems);
  return { stations: readStations(locations, findTariff, problems), problems, count: locations.length };
}

function* readStations(
  locations: JsonItems,
  findTariff: FindTariff,
  problems: Problem[],
): Generator<Station> {
  let index = 0;
  for (const location of locations) {
    const station = stationOf(location, placeOf(location, index), findTariff, problems);
    if (station) yield station;
    index += 1;
  }
}

export const ocpiLists = /^(?:data|items|data\.items)?$/;

/**
 * One object, an array of them, or the answer of an OCPI endpoint with either. Some operators page by `items` and `next`. Throws an Error with a
 * plain sentence for any other document.
 */
export function objectsOf(document: Json): Json[] {
  if (Array.isArray(document)) return document;
  if (!isJsonObject(document)) throw new Error('it has no OCPI object');
  if (Array.isArray(document.items)) return document.items;
  if (!('status_code' in document) && !('data' in document)) return [document];
  const { status_code: status = 1000, status_message: message, data } = document;
  const isSuccess = typeof status === 'number' && status >= 1000 && status < 2000;
  if (!isSuccess)
    throw new Error(`it is the answer of an OCPI endpoint that failed: ${status} ${message ?? ''}`.trim());
  if (data === undefined || data === null) throw new Error('it is an OCPI answer without data');
  return objectsOf(data);
}

function placeOf(location: Json, index: number): string {
  const id = isJsonObject(location) ? textOf(location.id) : undefined;
  return id === undefined ? `location ${index + 1}` : `location ${index + 1} (${id})`;
}

function stationOf(
  location: Json,
  at: string,
  findTariff: FindTariff,
  problems: Problem[],
): Station | undefined {
  const report = reporter(at, problems);
  if (!isJsonObject(location)) {
    report('is not an object', { kind: 'left-out' });
    return undefined;
  }
  const [country, party, id] = ['country_code', 'party_id', 'id'].map((member) => textOf(location[member]));
  if (country === undefined || party === undefined || id === undefined) {
    report('needs country_code, party_id and id', { kind: 'left-out' });
    return undefined;
  }
  const owner = `${country}*${party}`;
  if (location.publish === false) {
    report('is left out: it must not be shown to the public', {
      column: 'publish',
      value: 'false',
      kind: 'note',
    });
    return undefined;
  }
  noteRest(location, '', ocpiFields, report);

  const name = textOf(location.name) ?? textOf(location.address);
  const operatorName = isJsonObject(location.operator) ? textOf(location.operator.name) : undefined;
  const evses = Array.isArray(location.evses) ? location.evses : [];
  const timeZone = textOf(location.time_zone);
  const shared = {
    ...openingAttributes(location.opening_times, report),
    ...(timeZone !== undefined && { timeZone }),
  };
  const tariffs: Tariff[] = [];
  const addTariff = (given: Json, chargerId: string) => {
    const tariff = findTariff(given, owner, report);
    if (tariff) tariffs.push({ ...tariff, timeZone, chargerIds: [chargerId] });
  };
  const common = { at, owner, stationName: name, shared, addTariff, report };
  const chargers = evses.flatMap((evse, index) =>
    chargersOfEvse(evse, { ...common, path: `evses[${index}]` }),
  );
  if (chargers.length === 0) report('has no connector that could become a charger', { kind: 'left-out' });
  const operator = { id: owner, name: operatorName ?? owner };
  const [geo, address] = [pointOf(location.coordinates, report), addressOf(location)];
  return { at, id: `${owner}*${id}`, name, operator, geo, address, chargers, tariffs };
}

type FindTariff = (given: Json, owner: string, report: Report) => ReturnType<typeof tariffOf>;

/** Reads each tariff and reports its faults once. */
function createTariffs(tariffs: JsonItems, problems: Problem[]): FindTariff {
  const read = (tariff: Json) => {
    const id = isJsonObject(tariff) ? textOf(tariff.id) : undefined;
    return tariffOf(tariff, reporter(`tariff ${id ?? '?'}`, problems));
  };
  const named = new Map<string, ReturnType<typeof tariffOf>>();
  for (const tariff of tariffs) {
    const { country_code, party_id, id }: JsonObject = isJsonObject(tariff) ? tariff : {};
    const found = read(tariff);
    // Ids are unique within a party; a tariff without a party belongs to the party that refers to it.
    const owner = party_id === undefined ? '' : `${textOf(country_code)}*${textOf(party_id)}`;
    named.set(`${owner} ${textOf(id)}`, found);
  }
  const sent = new Map<string, ReturnType<typeof tariffOf>>();
  return (given, owner, report) => {
    if (isJsonObject(given)) {
      const key = JSON.stringify(given);
      if (!sent.has(key)) sent.set(key, read(given));
      return sent.get(key);
    }
    const id = textOf(given);
    const key = [`${owner} ${id}`, ` ${id}`].find((one) => named.has(one));
    if (key !== undefined) return named.get(key);
    report('names an unknown tariff: its price is missing', {
      column: 'evses.connectors.tariff_ids',
      value: id,
    });
    return undefined;
  };
}

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
    streetAddress: textOf(location.address),
    addressLocality: textOf(location.city),
    addressRegion: textOf(location.state),
    postalCode: textOf(location.postal_code),
    addressCountry: textOf(location.country),
  });
}
