// Where each field of DATEX II goes: the one table that `import explain` and docs/charging.md agree on. Paths are without the prefixes of profiles, and without
// the classes and extensions that a value is wrapped in.

const site = 'energyInfrastructureSite';
const station = `${site}.energyInfrastructureStation`;
const point = `${station}.refillPoint`;
const rate = `${point}.electricEnergy.energyRate`;
const status = 'energyInfrastructureSiteStatus.energyInfrastructureStationStatus.refillPointStatus';

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
];

export const datexFields: ReadonlyMap<string, string> = new Map([
  ...[site, station].flatMap((holder) =>
    ofBoth.map(([path, to]): [string, string] => [`${holder}.${path}`, to]),
  ),
  [`${site}.additionalInformation`, 'catalog.descriptor.name'],
  [`${station}.idG`, 'catalog.id, provider.id'],
  [`${point}.idG`, 'attributes.evseId, id of the charger'],
  [`${point}.currentType`, 'attributes.powerType'],
  [`${point}.availableChargingPower`, 'attributes.ratedPower'],
  [`${point}.connector.connectorType`, 'attributes.connectorType, connectorDescription'],
  [`${point}.connector.connectorFormat`, 'attributes.connectorFormat'],
  [`${point}.connector.maxPowerAtSocket`, 'attributes.ratedPower'],
  [`${rate}.idG`, 'offers.id'],
  [`${rate}.ratePolicy`, 'offers.descriptor.code'],
  [`${rate}.applicableCurrency`, 'considerations.currency'],
  [`${rate}.energyPrice.priceType`, 'one consideration for each type; components.type'],
  [`${rate}.energyPrice.value`, 'components.value; their highest is considerations.value'],
  [`${rate}.energyPrice.taxIncluded`, 'components.taxIncluded'],
  [`${rate}.energyPrice.taxRate`, 'components.taxPercent'],
  [`${rate}.energyPrice.timeBasedApplicability`, 'components.restrictions'],
  [`${status}.reference.idG`, 'which charger it is of'],
  [`${status}.status`, 'attributes.availability.status'],
  [`${status}.lastUpdated`, 'attributes.availability.reportedAt'],
]);
