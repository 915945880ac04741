// Catalogs of resources like chargers, generated in the database: about 700 bytes each, mostly alike.
export async function seedChargers(database, { networkId, catalogs, resourcesPerCatalog }) {
  await database.query(
    `insert into catalog.catalog (id, owner, type, visible_to, version, full_version, members, head, is_active,
       resource_count, offer_count, schema_uses, schema_types, published_at, updated_at)
     select 'catalog-' || n, 'provider.bench', 'REGULAR', array['${networkId}'], 1, 1, head, head, true,
       ${resourcesPerCatalog}, 0, '{}', '{}', now(), now()
     from generate_series(1, ${catalogs}) as n,
       lateral (select json_build_object('id', 'catalog-' || n, 'descriptor', json_build_object('name', 'Catalog ' || n),
         'provider', json_build_object('id', 'p', 'descriptor', json_build_object('name', 'Provider'))) as head) as rendered`,
  );
  await database.query(
    `insert into catalog.resource (catalog_key, id, own, changed_version)
     select key, 'charger-' || n, json_build_object(
       'id', 'charger-' || n,
       'descriptor', json_build_object('name', 'Charger ' || n, 'shortDesc', 'Fast charging at bay ' || n % 37,
         'longDesc', 'Open around the clock. ' || md5(n::text) || ' Parking is free while charging.'),
       'resourceAttributes', json_build_object(
         '@context', 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld',
         '@type', 'EnergyResourceEVCharger', 'id', 'charger-' || n, 'type', 'EV_CHARGER',
         'attributes', json_build_object('connectorType', (array['CCS2', 'Type2', 'CHAdeMO'])[1 + n % 3],
           'controlProtocol', 'OCPP_2.0.1', 'serialNumber', md5((n * 7)::text),
           'ratedPower', json_build_object('value', 22 + n % 300, 'unit', 'kW'),
           'maxImport', json_build_object('value', 22 + n % 300, 'unit', 'kW')))), 1
     from catalog.catalog, generate_series(1, ${resourcesPerCatalog}) as n`,
  );
  await database.query('vacuum analyze');
}
