import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';
import type { JsonItems } from '../protocol/json-items.ts';
import { powerIn, readCurrency, textOf } from './cell-values.ts';
import { datexFields } from './datex-fields.ts';
import { enumOf, firstObject, listIn, memberOf, wordsOf } from './datex-members.ts';
import { availabilities, connectorTypes, energyRates, plainName } from './datex-values.ts';
import { noteRest } from './field-table.ts';
import { openingAttributes } from './opening-hours.ts';
import { findAddress, findPoint, whyNoPoint } from './place.ts';
import {
  type Attributes,
  type Availability,
  type Charger,
  type Problem,
  type Report,
  reporter,
  type Station,
  type StationReading,
  type Tariff,
} from './station.ts';
import { slugOf } from './template.ts';

// DATEX II v3 EnergyInfrastructure, as JSON: the table publication and, in the same file or a separate one, the status publication. An
// EnergyInfrastructureStation becomes a station, and each connector of each charging point a charger. Names match with and without the prefixes of profiles
// (`aegi`, `egi`, `afac`, `fac`, `loc`) and in any case, because publishers spell them differently. docs/charging.md has the table of fields.
// The file is longer than others, because it is one walk from the publication down to the connector.

export const datexLists = /energyInfrastructureSite$/i;

/**
 * Throws an Error with a plain sentence if no document has a table.
 *
 * @param listed sites that a streaming reader has already taken out of the documents
 */
export function stationsOfDatex(documents: readonly Json[], listed: JsonItems = []): StationReading {
  const publications = documents.flatMap(payloadsOf);
  const single = publications
    .flatMap((payload) =>
      listIn(memberOf(payload, 'EnergyInfrastructureTablePublication'), 'energyInfrastructureTable'),
    )
    .flatMap((table) => listIn(table, 'energyInfrastructureSite'));
  const count = single.length + listed.length;
  if (count === 0) throw new Error('it has no DATEX II table of energy infrastructure');
  const problems: Problem[] = [];
  const statuses = new Map(publications.flatMap((payload) => statusesOf(payload, problems)));
  return { stations: readStations([single, listed], statuses, problems), problems, count };
}

function* readStations(
  lists: readonly JsonItems[],
  statuses: ReadonlyMap<string, Availability>,
  problems: Problem[],
): Generator<Station> {
  for (const sites of lists)
    for (const site of sites) {
      const at = `site ${textOf(memberOf(site, 'idG')) ?? '?'}`;
      noteRest(site, 'energyInfrastructureSite', datexFields, reporter(at, problems));
      for (const given of listIn(site, 'energyInfrastructureStation')) {
        const station = stationOf(given, firstObject(site), statuses, problems);
        if (station) yield station;
      }
    }
}

function payloadsOf(document: Json): JsonObject[] {
  const container = memberOf(document, 'messageContainer') ?? document;
  const payloads = [memberOf(container, 'payload') ?? container].flat().filter(isJsonObject);
  for (const payload of payloads) {
    const version = textOf(memberOf(payload, 'modelBaseVersionG')) ?? '3';
    if (!/^3(?:\.|$)/.test(version))
      throw new Error(`it is written in version ${version} of DATEX II, and only version 3 is known`);
  }
  return payloads;
}

function statusesOf(payload: JsonObject, problems: Problem[]): [string, Availability][] {
  const sites = listIn(
    memberOf(payload, 'EnergyInfrastructureStatusPublication'),
    'energyInfrastructureSiteStatus',
  );
  for (const site of sites) {
    const at = `status of site ${textOf(memberOf(memberOf(site, 'reference'), 'idG')) ?? '?'}`;
    noteRest(site, 'energyInfrastructureSiteStatus', datexFields, reporter(at, problems));
  }
  return sites
    .flatMap((site) => listIn(site, 'energyInfrastructureStationStatus'))
    .flatMap((station) => listIn(station, 'refillPointStatus'))
    .flatMap((holder) => {
      const point = firstObject(
        memberOf(holder, 'RefillPointStatus'),
        memberOf(holder, 'ElectricChargingPointStatus'),
        holder,
      );
      const id = textOf(memberOf(memberOf(point, 'reference'), 'idG'));
      const value = enumOf(memberOf(point, 'status'));
      const status = availabilities.get(plainName(value ?? ''));
      const reportedAt = textOf(memberOf(point, 'lastUpdated'));
      const report = reporter(`status of ${id ?? '?'}`, problems);
      if (memberOf(point, 'energyRateUpdate') !== undefined)
        report('is not imported: the price is old', { column: 'energyRateUpdate' });
      if (id === undefined || status === undefined) {
        report('is not a status of a charging point', { column: 'status', value });
        return [];
      }
      return [[id, { status, ...(reportedAt !== undefined && { reportedAt }) }] as [string, Availability]];
    });
}

function stationOf(
  station: JsonObject,
  site: JsonObject,
  statuses: ReadonlyMap<string, Availability>,
  problems: Problem[],
): Station | undefined {
  const id = textOf(memberOf(station, 'idG'));
  const at = `station ${id ?? '?'}`;
  const report = reporter(at, problems);
  if (id === undefined) {
    report('needs an idG', { kind: 'left-out' });
    return undefined;
  }
  // A station inherits missing members from its site.
  const either = (name: string) => memberOf(station, name) ?? memberOf(site, name);
  const { geo, address, timeZone } = {
    ...findPlace(memberOf(site, 'locationReference')),
    ...findPlace(memberOf(station, 'locationReference')),
  };
  const operator = operatorOf(either('operator'), address?.addressCountry);
  const name =
    wordsOf(memberOf(station, 'name')) ??
    wordsOf(memberOf(site, 'name')) ??
    wordsOf(memberOf(site, 'additionalInformation'));
  const shared = {
    ...openingAttributes(openingTimesOf(either('operatingHours'), report), report),
    ...(timeZone !== undefined && { timeZone }),
  };
  reportRates([site, station], report);
  const tariffs: Tariff[] = [];
  const chargers = listIn(station, 'refillPoint').flatMap((holder) => {
    const given = firstObject(memberOf(holder, 'ElectricChargingPoint'), holder);
    // Publications that use only the core schema have the members of the profile in the extension.
    const point = { ...firstObject(memberOf(given, 'ElectricChargingPointExtensionG')), ...given };
    const chargersOfPoint = chargersOf(point, { at, shared, statuses, stationName: name, report });
    const chargerIds = chargersOfPoint.map((charger) => charger.id);
    for (const tariff of tariffsOf(point, report)) tariffs.push({ ...tariff, timeZone, chargerIds });
    return chargersOfPoint;
  });
  if (chargers.length === 0) report('has no connector that could become a charger', { kind: 'left-out' });
  if (geo === undefined) report(whyNoPoint(undefined, undefined), { column: 'locationReference' });
  return { at, id: `${operator.id}*${id}`, name, operator, geo, address, chargers, tariffs };
}

/** `DE*EBW`, the start of EVSE ids; without such an id, the operator's name. */
function operatorOf(given: Json | undefined, country: string | undefined): Station['operator'] {
  const organisation = firstObject(...Object.values(isJsonObject(given) ? given : {}));
  const name = wordsOf(memberOf(organisation, 'name')) ?? 'Unknown operator';
  const identifiers = listIn(organisation, 'externalIdentifier');
  const known = identifiers.find(
    (one) => plainName(enumOf(memberOf(one, 'typeOfIdentifier')) ?? '') === 'operatorid',
  );
  const own = textOf(memberOf(organisation, 'externalCode'));
  if (own !== undefined) return { id: own, name };
  const code = textOf(memberOf(known ?? identifiers[0], 'identifier')) ?? slugOf(name);
  return { id: country === undefined ? code : `${country}*${code}`, name };
}

interface PointContext {
  at: string;
  shared: Attributes;
  statuses: ReadonlyMap<string, Availability>;
  stationName?: string;
  report: Report;
}

function chargersOf(
  point: JsonObject,
  { at, shared, statuses, stationName, report }: PointContext,
): Charger[] {
  const evseId = textOf(memberOf(point, 'idG'));
  if (evseId === undefined) {
    report('needs an idG', { column: 'refillPoint', kind: 'left-out' });
    return [];
  }
  const current = enumOf(memberOf(point, 'currentType'))?.toUpperCase();
  const availability = statuses.get(evseId);
  return listIn(point, 'connector').map((connector, index) => {
    const type = enumOf(memberOf(connector, 'connectorType'));
    const connectorType = connectorTypes.get(plainName(type ?? ''));
    if (connectorType === undefined)
      report('is not a connector type of DATEX II', { column: 'connectorType', value: type });
    const watts =
      memberOf(connector, 'maxPowerAtSocket') ?? [memberOf(point, 'availableChargingPower')].flat()[0];
    // Some publishers must send a power: 0 means unknown.
    const ratedPower = typeof watts === 'number' && watts > 0 ? powerIn('W', watts) : undefined;
    const format = enumOf(memberOf(connector, 'connectorFormat'));
    const kind = [connectorType ?? 'Charger', ratedPower && `${ratedPower.value} kW`]
      .filter(Boolean)
      .join(' ');
    return {
      at,
      id: `${evseId}*${index + 1}`,
      name: stationName === undefined ? kind : `${kind} at ${stationName}`,
      type: 'EV_CHARGER',
      attributes: {
        ...(connectorType !== undefined && { connectorType }),
        ...(type !== undefined && { connectorDescription: type }),
        ...(format !== undefined && { connectorFormat: format === 'socket' ? 'SOCKET' : 'CABLE' }),
        ...(current !== undefined && { powerType: current }),
        ...(ratedPower && { ratedPower }),
        evseId,
        ...(availability && { availability }),
        ...shared,
      },
      sources: [],
    };
  });
}

type PlainTariff = Omit<Tariff, 'chargerIds' | 'timeZone'>;

function tariffsOf(point: JsonObject, report: Report): PlainTariff[] {
  reportRates([point, ...listIn(point, 'electricEnergyMix')], report);
  return listIn(point, 'electricEnergy')
    .flatMap((energy) => listIn(energy, 'energyRate'))
    .flatMap((rate) => {
      const id = textOf(memberOf(rate, 'idG'));
      const currency = readCurrency(textOf([memberOf(rate, 'applicableCurrency')].flat()[0]));
      const prices = energyRates(listIn(rate, 'energyPrice'), report);
      if (currency === undefined || prices.length === 0) {
        report('has no price, or no currency of three letters: the price is missing', {
          column: 'energyRate',
          value: id,
        });
        return [];
      }
      const policy = enumOf(memberOf(rate, 'ratePolicy'));
      const code =
        policy === undefined ? undefined : plainName(policy) === 'adhoc' ? 'AD_HOC_PAYMENT' : policy;
      return [{ ...(id !== undefined && { id }), ...(code !== undefined && { code }), currency, prices }];
    });
}

/** In the core, prices of rates have no unit. */
function reportRates(holders: readonly JsonObject[], report: Report): void {
  const kinds = holders.flatMap((holder) => Object.keys(firstObject(memberOf(holder, 'rates'))));
  for (const value of kinds.filter((kind) => !/Unknown|Unspecified/i.test(kind)))
    report('is not imported: the price is missing', { column: 'rates', value });
}

function openingTimesOf(given: Json | undefined, report: Report): Json | undefined {
  if (memberOf(given, 'OpenAllHours') !== undefined) return { twentyfourseven: true };
  const periods = listIn(
    memberOf(memberOf(given, 'OperatingHoursSpecification'), 'overallPeriod'),
    'validPeriod',
  );
  const regular_hours = periods.flatMap((period) => {
    const times = listIn(period, 'recurringTimePeriodOfDay');
    const weeks = listIn(period, 'recurringDayWeekMonthPeriod').map((one) =>
      firstObject(memberOf(one, 'DayWeekMonth'), one),
    );
    const named = weeks.flatMap((week) => listIn(week, 'applicableDay')).map((day) => enumOf(day) ?? '');
    const isLimited = [period, ...weeks].some((one) =>
      ['endOfPeriod', 'recurringSpecialDay', 'applicableMonth'].some((name) => memberOf(one, name)),
    );
    if (isLimited || (weeks.length > 0 && named.length === 0)) {
      report('is not for every week: not imported', { column: 'operatingHours.validPeriod' });
      return [];
    }
    return (named.length > 0 ? named : weekdays).flatMap((day) =>
      (times.length > 0 ? times : [allDay]).map((time) => ({
        weekday: weekdays.indexOf(day) + 1,
        period_begin: textOf(memberOf(time, 'startTimeOfPeriod'))?.slice(0, 5) ?? '',
        period_end: textOf(memberOf(time, 'endTimeOfPeriod'))?.slice(0, 5) ?? '',
      })),
    );
  });
  return regular_hours.length > 0 ? { regular_hours } : undefined;
}

const allDay = { startTimeOfPeriod: '00:00', endTimeOfPeriod: '24:00' };
const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

function findPlace(reference: Json | undefined) {
  const locations = isJsonObject(reference) ? Object.values(reference).filter(isJsonObject) : [];
  const points = locations.flatMap((location) => {
    const exact = memberOf(memberOf(location, 'pointByCoordinates'), 'pointCoordinates');
    const shown = memberOf(location, 'coordinatesForDisplay');
    const { latitude, longitude } = firstObject(exact, shown);
    if (typeof latitude !== 'number' || typeof longitude !== 'number') return [];
    return findPoint(latitude, longitude) ?? [];
  });
  const facility = locations
    .flatMap((location) => [
      memberOf(location, 'LocationExtensionG'),
      memberOf(location, 'LocationReferenceExtensionG'),
    ])
    .map((extension) => memberOf(extension, 'FacilityLocation'))
    .find(isJsonObject);
  const given = memberOf(facility, 'address');
  const lines = listIn(given, 'addressLine').sort((one, other) => Number(one.order) - Number(other.order));
  const street = lines.flatMap((line) => wordsOf(memberOf(line, 'text')) ?? []).join(' ');
  const address = findAddress({
    streetAddress: street || undefined,
    addressLocality: wordsOf(memberOf(given, 'city')),
    postalCode: textOf(memberOf(given, 'postcode')),
    addressCountry: textOf(memberOf(given, 'countryCode')),
  });
  const timeZone = textOf(memberOf(facility, 'timeZone'));
  return {
    ...(points[0] && { geo: points[0] }),
    ...(address && { address }),
    ...(timeZone !== undefined && { timeZone }),
  };
}
