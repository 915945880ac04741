import { fieldTable } from './field-table.ts';

// The target of each field of DATEX II. Paths omit the prefixes of profiles, and the classes and extensions around a value.

const site = 'energyInfrastructureSite';
const station = `${site}.energyInfrastructureStation`;
const point = `${station}.refillPoint`;
const rate = `${point}.electricEnergy.energyRate`;
const siteStatus = 'energyInfrastructureSiteStatus';
const stationStatus = `${siteStatus}.energyInfrastructureStationStatus`;
const status = `${stationStatus}.refillPointStatus`;

/** Classes and extensions, which have a capital letter after the profile's prefix, and the first members of every publication. */
const around = /^(?:a?(?:egi|fac|loc|com))?[A-Z]|^(?:messageContainer|payload|energyInfrastructureTable)$/;

const record = 'about the record';
const pricesMissing = 'nowhere: reported as a missing price';

const under = (holders: readonly string[], fields: Record<string, string>) =>
  holders.flatMap((holder) => Object.entries(fields).map(([path, to]) => [`${holder}.${path}`, to] as const));

export const datexFields = fieldTable(
  [
    ...under([site, station, point, rate], {
      versionG: record,
      lastUpdated: record,
      externalIdentifier: record,
    }),
    ...under([siteStatus, stationStatus], { reference: record, lastUpdated: record }),
    // A station inherits these fields from its site.
    ...under([site, station], {
      name: 'catalog.descriptor.name, names of the chargers',
      'operator.name': 'provider.descriptor.name',
      'operator.externalCode': 'catalog.id, provider.id',
      'operator.externalIdentifier': 'catalog.id, provider.id',
      'locationReference.pointByCoordinates': 'provider.availableAt.geo',
      'locationReference.coordinatesForDisplay': 'provider.availableAt.geo',
      'locationReference.address': 'provider.availableAt.address',
      'locationReference.timeZone': 'attributes.timeZone',
      operatingHours: 'attributes.openingHours',
      rates: pricesMissing,
    }),
    ...under([site], { idG: record, additionalInformation: 'catalog.descriptor.name' }),
    ...under([station], { idG: 'catalog.id, provider.id' }),
    ...under([point], {
      idG: 'attributes.evseId, id of the charger',
      currentType: 'attributes.powerType',
      availableChargingPower: 'attributes.ratedPower',
      'connector.connectorType': 'attributes.connectorType, connectorDescription',
      'connector.connectorFormat': 'attributes.connectorFormat',
      'connector.maxPowerAtSocket': 'attributes.ratedPower',
      rates: pricesMissing,
    }),
    ...under([rate], {
      idG: 'offers.id',
      ratePolicy: 'offers.descriptor.code',
      applicableCurrency: 'considerations.currency',
      'energyPrice.priceType': 'one consideration for each type; components.type',
      'energyPrice.value': 'components.value; their highest is considerations.value',
      'energyPrice.taxIncluded': 'components.taxIncluded',
      'energyPrice.taxRate': 'components.taxPercent',
      'energyPrice.timeBasedApplicability': 'components.restrictions',
    }),
    ...under([status], {
      reference: 'which charger it is of',
      status: 'attributes.availability.status',
      lastUpdated: 'attributes.availability.reportedAt',
      energyRateUpdate: pricesMissing,
    }),
  ],
  around,
);
