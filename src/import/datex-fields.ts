import { fieldTable } from './field-table.ts';

// Where each field of DATEX II goes. Paths are without the prefixes of profiles, and without the classes and extensions that a value is wrapped in.

const site = 'energyInfrastructureSite';
const station = `${site}.energyInfrastructureStation`;
const point = `${station}.refillPoint`;
const rate = `${point}.electricEnergy.energyRate`;
const siteStatus = 'energyInfrastructureSiteStatus';
const stationStatus = `${siteStatus}.energyInfrastructureStationStatus`;
const status = `${stationStatus}.refillPointStatus`;

const pricesMissing = 'nowhere: reported as a missing price';

const aboutTheRecord = (holder: string): [path: string, destination: string][] =>
  ['versionG', 'lastUpdated', 'externalIdentifier'].map((member) => [
    `${holder}.${member}`,
    'about the record',
  ]);

/** A station inherits these fields from its site. */
const ofBoth: readonly [path: string, destination: string][] = [
  ['name', 'catalog.descriptor.name, names of the chargers'],
  ['operator.name', 'provider.descriptor.name'],
  ['operator.externalCode', 'catalog.id, provider.id'],
  ['operator.externalIdentifier', 'catalog.id, provider.id'],
  ['locationReference.pointByCoordinates', 'provider.availableAt.geo'],
  ['locationReference.coordinatesForDisplay', 'provider.availableAt.geo'],
  ['locationReference.address', 'provider.availableAt.address'],
  ['locationReference.timeZone', 'attributes.timeZone'],
  ['operatingHours', 'attributes.openingHours'],
  ['rates', pricesMissing],
];

export const datexFields = fieldTable(
  [
    ...[site, station].flatMap((holder) =>
      ofBoth.map(([path, to]): [string, string] => [`${holder}.${path}`, to]),
    ),
    ...[site, station, point, rate].flatMap(aboutTheRecord),
    [`${site}.idG`, 'about the record'],
    [`${site}.additionalInformation`, 'catalog.descriptor.name'],
    [`${station}.idG`, 'catalog.id, provider.id'],
    [`${point}.idG`, 'attributes.evseId, id of the charger'],
    [`${point}.currentType`, 'attributes.powerType'],
    [`${point}.availableChargingPower`, 'attributes.ratedPower'],
    [`${point}.connector.connectorType`, 'attributes.connectorType, connectorDescription'],
    [`${point}.connector.connectorFormat`, 'attributes.connectorFormat'],
    [`${point}.connector.maxPowerAtSocket`, 'attributes.ratedPower'],
    [`${point}.rates`, pricesMissing],
    [`${rate}.idG`, 'offers.id'],
    [`${rate}.ratePolicy`, 'offers.descriptor.code'],
    [`${rate}.applicableCurrency`, 'considerations.currency'],
    [`${rate}.energyPrice.priceType`, 'one consideration for each type; components.type'],
    [`${rate}.energyPrice.value`, 'components.value; their highest is considerations.value'],
    [`${rate}.energyPrice.taxIncluded`, 'components.taxIncluded'],
    [`${rate}.energyPrice.taxRate`, 'components.taxPercent'],
    [`${rate}.energyPrice.timeBasedApplicability`, 'components.restrictions'],
    [`${siteStatus}.reference`, 'about the record'],
    [`${siteStatus}.lastUpdated`, 'about the record'],
    [`${stationStatus}.reference`, 'about the record'],
    [`${stationStatus}.lastUpdated`, 'about the record'],
    [`${status}.reference`, 'which charger it is of'],
    [`${status}.status`, 'attributes.availability.status'],
    [`${status}.lastUpdated`, 'attributes.availability.reportedAt'],
    [`${status}.energyRateUpdate`, pricesMissing],
  ],
  pathOf,
);

/** Without classes and extensions, whose names begin with a capital after the prefix of their profile, and without what every publication begins with. */
function pathOf(path: string): string {
  const around = /^(?:a?(?:egi|fac|loc|com))?[A-Z]|^(?:messageContainer|payload|energyInfrastructureTable)$/;
  const names = path.split('.').filter((name) => !around.test(name));
  return names.join('.');
}
