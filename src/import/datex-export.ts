import type { Catalog, Location, Resource } from '../protocol/catalog.ts';
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';
import { isValidAt } from '../rules/time-period.ts';
import { writtenConnectors, writtenStatuses } from './datex-values.ts';
import { positionOf } from './place.ts';
import type { Problem } from './station.ts';

// Published EV chargers as DATEX II v3 EnergyInfrastructure, as JSON: a table publication, valid by the schemas of version 3.7, and a status one.
// Members of Regulation (EU) 2025/655's profile that the core of 3.7 lacks (current, prices) are in the extension of the charging point under their
// profile names. docs/charging.md lists the losses. The file is longer than others, because it is one walk from the catalog down to the connector.

interface DatexOptions {
  now: Date;
  lang: string;
  creator: { country: string; nationalIdentifier: string };
}

export function exportDatex(catalogs: readonly Catalog[], { now, lang, creator }: DatexOptions) {
  const problems: Problem[] = [];
  const version = now.toISOString();
  const publication = { lang, publicationTime: version, publicationCreator: creator };
  const context: ExportContext = { now, version, lang, report: (problem) => void problems.push(problem) };
  const energyInfrastructureSite = catalogs.flatMap((catalog) => siteOf(catalog, context) ?? []);
  const table = { idG: creator.nationalIdentifier, versionG: version };
  const payload = { versionG: '3.7', modelBaseVersionG: '3' };
  return {
    table: {
      payload: {
        ...payload,
        egiEnergyInfrastructureTablePublication: {
          ...publication,
          energyInfrastructureTable: [{ ...table, energyInfrastructureSite }],
        },
      },
    },
    status: {
      payload: {
        ...payload,
        aegiEnergyInfrastructureStatusPublication: {
          ...publication,
          tableReference: [{ targetClass: 'EnergyInfrastructureTable', ...table }],
          energyInfrastructureSiteStatus: catalogs.flatMap((catalog) => statusOf(catalog, context)),
        },
      },
    },
    problems,
  };
}

interface ExportContext {
  now: Date;
  version: string;
  lang: string;
  report(problem: Problem): void;
}

/** A catalog of one station becomes a site with one station, a larger one a site with a station per place. */
function siteOf(catalog: Catalog, context: ExportContext): JsonObject | undefined {
  const { id, descriptor, provider } = catalog;
  const stations = stationsOf(catalog);
  if (stations.length === 0) return undefined;
  const name = words(descriptor.name ?? id, context);
  return {
    idG: id,
    versionG: context.version,
    name,
    operator: {
      facOrganisationSpecification: {
        idG: provider.id,
        versionG: context.version,
        name: words(provider.descriptor.name, context),
        externalCode: provider.id,
        organisationUnit: [{}],
      },
    },
    energyInfrastructureStation: stations.map(({ stationId, location, points }) => {
      const [first] = points.values();
      const { openingHours, timeZone } = attributesOf(first?.[0]);
      const reference = locationReference(location, timeZone, context);
      return {
        idG: stationId,
        versionG: context.version,
        name,
        ...(openingHours === '24/7' && { operatingHours: { facOpenAllHours: {} } }),
        ...(reference && { locationReference: reference }),
        refillPoint: [...points].map(([evseId, chargers]) => ({
          egiElectricChargingPoint: pointOf(evseId, chargers, catalog, context),
        })),
      };
    }),
  };
}

interface ExportedStation {
  stationId: string;
  location?: Location;
  points: Map<string, Resource[]>;
}

function stationsOf({ id, provider, resources = [] }: Catalog): ExportedStation[] {
  const stations = new Map<string, ExportedStation>();
  for (const resource of resources) {
    const { location, evseId } = attributesOf(resource);
    const own = isJsonObject(location) ? (location as Location) : undefined;
    const key = own?.geo ? String(positionOf(own.geo)) : '';
    const station = stations.get(key) ?? {
      stationId: key === '' ? id : `${id}:${key}`,
      location: own ?? provider.availableAt?.[0],
      points: new Map(),
    };
    const point = typeof evseId === 'string' ? evseId : resource.id;
    station.points.set(point, [...(station.points.get(point) ?? []), resource]);
    stations.set(key, station);
  }
  return [...stations.values()];
}

function pointOf(evseId: string, chargers: readonly Resource[], catalog: Catalog, context: ExportContext) {
  const currents = new Set(chargers.map((charger) => attributesOf(charger).powerType).map(currentOf));
  const [current] = currents;
  if (currents.size > 1) context.report({ at: evseId, column: 'powerType', why: oneOfEach, kind: 'value' });
  const rates = ratesOf(catalog, chargers, context);
  const extension = {
    ...(current !== undefined && currents.size === 1 && { currentType: { value: current } }),
    ...(rates.length > 0 && { electricEnergy: [{ energyRate: rates }] }),
  };
  return {
    idG: evseId,
    versionG: context.version,
    connector: chargers.map((charger) => {
      const { connectorType, connectorFormat, ratedPower } = attributesOf(charger);
      const kilowatts = isJsonObject(ratedPower) ? Number(ratedPower.value) : Number.NaN;
      if (!Number.isFinite(kilowatts)) {
        const why = 'is required by DATEX II: 0 is written';
        context.report({ at: charger.id, column: 'ratedPower', why, kind: 'value' });
      }
      return {
        connectorType: { value: writtenConnectors[String(connectorType)] ?? 'other' },
        ...(connectorFormat !== undefined && {
          connectorFormat: { value: connectorFormat === 'SOCKET' ? 'socket' : 'otherCable' },
        }),
        maxPowerAtSocket: Number.isFinite(kilowatts) ? kilowatts * 1_000 : 0,
      };
    }),
    ...(Object.keys(extension).length > 0 && { egiElectricChargingPointExtensionG: extension }),
  };
}

function currentOf(powerType: Json | undefined): string | undefined {
  if (typeof powerType !== 'string') return undefined;
  return powerType.startsWith('DC') ? 'dc' : 'ac';
}

const oneOfEach = 'is not the same for all connectors of an EVSE, for which DATEX II has only one';

function ratesOf({ offers = [] }: Catalog, chargers: readonly Resource[], context: ExportContext) {
  const covering = offers.filter(({ id, resourceIds, validity }) => {
    const covered = chargers.filter((charger) => resourceIds?.includes(charger.id) ?? true).length;
    if (covered === 0) return false;
    const isValid = isValidAt(validity, context.now);
    if (isValid && covered === chargers.length) return true;
    const why = isValid ? oneOfEach : 'is not valid now, and DATEX II has no time for it';
    context.report({ at: id, column: 'price', why, kind: 'value' });
    return false;
  });
  return covering.flatMap(({ id, descriptor, considerations = [] }) => {
    const prices = considerations.flatMap(({ considerationAttributes }) => {
      const components: unknown = considerationAttributes?.components;
      return Array.isArray(components) ? (components as Json[]).filter(isJsonObject) : [];
    });
    const energyPrice = prices.flatMap((price) => energyPriceOf(price, id, context) ?? []);
    if (energyPrice.length === 0) return [];
    const currency = String(prices[0]?.currency);
    const isAdHoc = descriptor?.code === 'AD_HOC_PAYMENT';
    return [
      {
        idG: id.replace(/^.*:tariff:/, ''),
        ...(isAdHoc && { ratePolicy: { value: 'adHoc' } }),
        applicableCurrency: [currency],
        energyPrice,
      },
    ];
  });
}

function energyPriceOf(price: JsonObject, offerId: string, { report }: ExportContext) {
  const { type, value, taxIncluded, taxPercent, restrictions } = price;
  const kind = { ENERGY: 'pricePerKWh', TIME: 'pricePerMinute', FLAT: 'flatRate' }[String(type)];
  const { minDuration, maxDuration, ...others }: JsonObject = isJsonObject(restrictions) ? restrictions : {};
  if (kind === undefined || typeof value !== 'number' || Object.keys(others).length > 0) {
    report({ at: offerId, value: JSON.stringify(price), why: 'has no place in DATEX II', kind: 'value' });
    return undefined;
  }
  const hasTimes = minDuration !== undefined || maxDuration !== undefined;
  return {
    priceType: { value: kind },
    value: type === 'TIME' ? Number((value / 60).toFixed(8)) : value,
    ...(taxIncluded !== undefined && { taxIncluded }),
    ...(taxPercent !== undefined && { taxRate: taxPercent }),
    ...(hasTimes && {
      timeBasedApplicability: { fromMinute: minutes(minDuration), toMinute: minutes(maxDuration) },
    }),
  };
}

function minutes(seconds: Json | undefined): number {
  return typeof seconds === 'number' ? Math.round(seconds / 60) : 0;
}

function locationReference(location: Location | undefined, timeZone: unknown, context: ExportContext) {
  const [longitude, latitude] = (location?.geo && positionOf(location.geo)) ?? [];
  const hasPoint = latitude !== undefined && longitude !== undefined;
  const { streetAddress, addressLocality, postalCode, addressCountry } = location?.address ?? {};
  const address = {
    ...(postalCode !== undefined && { postcode: postalCode }),
    ...(addressLocality !== undefined && { city: words(addressLocality, context) }),
    ...(addressCountry?.length === 2 && { countryCode: addressCountry }),
    ...(streetAddress !== undefined && {
      addressLine: [{ order: 1, type: { value: 'street' }, text: words(streetAddress, context) }],
    }),
  };
  const FacilityLocation = {
    ...(typeof timeZone === 'string' && { timeZone }),
    ...(Object.keys(address).length > 0 && { address }),
  };
  const reference = {
    ...(hasPoint && { pointByCoordinates: { pointCoordinates: { latitude, longitude } } }),
    ...(Object.keys(FacilityLocation).length > 0 && {
      locLocationReferenceExtensionG: { FacilityLocation },
    }),
  };
  return Object.keys(reference).length > 0 ? { locPointLocation: reference } : undefined;
}

function statusOf(catalog: Catalog, { version }: ExportContext): JsonObject[] {
  const reference = (idG: string) => ({ targetClass: 'FacilityObject', idG, versionG: version });
  const stations = stationsOf(catalog).flatMap(({ stationId, points }) => {
    const known = [...points].flatMap(([evseId, [charger]]) => {
      const { availability } = attributesOf(charger);
      if (!isJsonObject(availability)) return [];
      const { status, reportedAt } = availability;
      return [
        {
          aegiRefillPointStatus: {
            reference: reference(evseId),
            ...(reportedAt !== undefined && { lastUpdated: reportedAt }),
            status: { value: writtenStatuses[String(status)] ?? 'unknown' },
          },
        },
      ];
    });
    return known.length > 0 ? [{ reference: reference(stationId), refillPointStatus: known }] : [];
  });
  return stations.length > 0
    ? [{ reference: reference(catalog.id), energyInfrastructureStationStatus: stations }]
    : [];
}

function attributesOf(resource: Resource | undefined): JsonObject {
  const attributes = resource?.resourceAttributes?.attributes as Json | undefined;
  return isJsonObject(attributes) ? attributes : {};
}

function words(value: string, { lang }: ExportContext): JsonObject {
  return { values: [{ lang, value }] };
}
