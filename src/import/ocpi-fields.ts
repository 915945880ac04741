// Where each field of OCPI goes: the one table that the import, `import explain` and docs/charging.md agree on. A field that is not here has no place in
// a catalog of EV chargers.

/** By the path below a Location; what tariffs say is below `tariffs`, whether they come with the locations or apart. */
export const ocpiFields: ReadonlyMap<string, string> = new Map([
  ['country_code', 'ids'],
  ['party_id', 'ids'],
  ['id', 'catalog.id, provider.id'],
  ['publish', 'false: the location is left out'],
  ['publish_allowed_to', 'about the record'],
  ['name', 'catalog.descriptor.name, names of the chargers'],
  ['address', 'provider.availableAt.address.streetAddress'],
  ['city', 'provider.availableAt.address.addressLocality'],
  ['postal_code', 'provider.availableAt.address.postalCode'],
  ['state', 'provider.availableAt.address.addressRegion'],
  ['country', 'provider.availableAt.address.addressCountry'],
  ['coordinates', 'provider.availableAt.geo'],
  ['operator.name', 'provider.descriptor.name'],
  ['opening_times', 'attributes.openingHours, exceptionalOpenings, exceptionalClosings'],
  ['time_zone', 'attributes.timeZone, considerations.timeZone'],
  ['last_updated', 'about the record'],
  ['evses.uid', 'id of the charger'],
  ['evses.evse_id', 'attributes.evseId'],
  ['evses.status', 'attributes.availability.status; REMOVED and PLANNED are left out'],
  ['evses.tariffs', 'offers: some operators send whole tariffs there'],
  ['evses.last_updated', 'attributes.availability.reportedAt'],
  ['evses.connectors.id', 'id of the charger'],
  ['evses.connectors.standard', 'attributes.connectorType, connectorDescription'],
  ['evses.connectors.format', 'attributes.connectorFormat'],
  ['evses.connectors.power_type', 'attributes.powerType'],
  ['evses.connectors.max_voltage', 'attributes.ratedPower'],
  ['evses.connectors.max_amperage', 'attributes.ratedPower'],
  ['evses.connectors.max_electric_power', 'attributes.ratedPower'],
  ['evses.connectors.tariff_id', 'offers.resourceIds'],
  ['evses.connectors.tariff_ids', 'offers.resourceIds'],
  ['evses.connectors.last_updated', 'about the record'],
  ['tariffs.country_code', 'which locations it is for'],
  ['tariffs.party_id', 'which locations it is for'],
  ['tariffs.id', 'offers.id'],
  ['tariffs.currency', 'considerations.currency'],
  ['tariffs.type', 'offers.descriptor.code'],
  ['tariffs.tariff_alt_text', 'offers.descriptor.shortDesc, in one language'],
  ['tariffs.start_date_time', 'offers.validity.startDate'],
  ['tariffs.end_date_time', 'offers.validity.endDate'],
  ['tariffs.min_price', 'consideration "minimum"'],
  ['tariffs.max_price', 'consideration "maximum"'],
  ['tariffs.tax_included', 'components.taxIncluded'],
  ['tariffs.elements.price_components.type', 'one consideration for each type; components.type'],
  ['tariffs.elements.price_components.price', 'components.value; their highest is considerations.value'],
  ['tariffs.elements.price_components.vat', 'components.taxPercent'],
  ['tariffs.elements.price_components.step_size', 'components.step'],
  ['tariffs.elements.restrictions', 'components.restrictions'],
  ['tariffs.last_updated', 'about the record'],
]);

/** Each field with everything that it is in: `evses.connectors.id`, `evses.connectors`, `evses`. */
const carried: ReadonlySet<string> = new Set(
  [...ocpiFields.keys()].flatMap((path) => {
    const names = path.split('.');
    return names.map((_, index) => names.slice(0, index + 1).join('.'));
  }),
);

/** Whether a field, or a part of it, goes anywhere. */
export function isCarried(path: string): boolean {
  return carried.has(path);
}
