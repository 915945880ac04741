// A pull of 100 catalogs with a million resources, from the request to on_pull with the download ready, against COPY of the same documents
// into gzip (the same level), which PostgreSQL starts by itself. And what this pull, and a search for the same catalogs, add to the memory
// of the service.
import { actions } from '../../dist/protocol/actions.js';
import { sideBySide } from '../measure.mjs';
import { startService } from '../service.mjs';

const catalogs = 100;
const resourcesPerCatalog = Number(process.env.BENCH_PULL_RESOURCES ?? 1_000_000) / catalogs;
const resources = catalogs * resourcesPerCatalog;
const allowedBytes = 200e6;
const networkId = 'bench.org/pull';

export async function run({ repeat }) {
  const service = await startService({ prepare: seed });
  try {
    const ds = await service.participant('ds');
    const { answer } = await ds.send(actions.subscribe, { subscription: { networkIds: [networkId] } });
    const [{ subscriptionId }] = answer.message.subscriptions;
    const ours = () => rate(() => pull(ds, subscriptionId));
    const yardstick = () => rate(() => copyToGzip(service.database));
    const addedByPull = await service.addedMemory(ours);
    const addedBySearch = await service.addedMemory(() => search(ds));
    const result = await sideBySide({ repeat, ours, yardstick });
    return [
      {
        scenario: `pull of ${catalogs} catalogs with ${resources.toLocaleString('en-US')} resources`,
        value: result.value,
        unit: 'resources/s',
        against: 'COPY … | gzip of the same documents',
        ratio: result.ratio,
      },
      memoryRow('memory that this pull adds to the service', addedByPull),
      memoryRow('memory that a search for the same catalogs adds', addedBySearch),
    ];
  } finally {
    await service.close();
  }
}

function memoryRow(scenario, addedBytes) {
  const [value, allowed] = [addedBytes / 1e6, allowedBytes / 1e6];
  return {
    scenario,
    value,
    unit: 'MB',
    against: `the ${allowed} MB that it may add`,
    ratio: value / allowed,
  };
}

/** How many resources per second. */
async function rate(work) {
  const start = performance.now();
  await work();
  return (resources * 1000) / (performance.now() - start);
}

async function pull(ds, subscriptionId) {
  const { callback } = await ds.send(actions.pull, { subscriptionId, limit: catalogs });
  const { message } = await callback;
  if (message.pagination?.total !== catalogs || !message.downloadManifest)
    throw new Error(JSON.stringify(message));
}

async function search(ds) {
  const filters = { type: 'REGULAR', networkIds: [networkId] };
  const { response } = await ds.request(actions.search, { filters, limit: catalogs });
  let bytes = 0;
  for await (const chunk of response.body) bytes += chunk.length;
  if (bytes !== Number(response.headers.get('content-length'))) throw new Error(`only ${bytes} bytes came`);
}

async function copyToGzip(database) {
  await database.query(
    `copy (select coalesce(assembled, own) from catalog.resource order by catalog_key, id) to program 'gzip > /dev/null'`,
  );
}

/** Resources like chargers: about 700 bytes, of which most is alike. */
async function seed(database) {
  const provider = `json_build_object('id', 'p', 'descriptor', json_build_object('name', 'Provider'))`;
  await database.query(
    `insert into catalog.catalog (id, owner, type, visible_to, version, full_version, members, head, is_active,
       resource_count, offer_count, schema_uses, schema_types, published_at, updated_at)
     select 'catalog-' || n, 'provider.bench', 'REGULAR', array['${networkId}'], 1, 1, head, head, true,
       ${resourcesPerCatalog}, 0, '{}', '{}', now(), now()
     from generate_series(1, ${catalogs}) as n,
       lateral (select json_build_object('id', 'catalog-' || n, 'descriptor', json_build_object('name', 'Catalog ' || n),
         'provider', ${provider}) as head) as rendered`,
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
  await database.query('vacuum analyze catalog.resource');
}
