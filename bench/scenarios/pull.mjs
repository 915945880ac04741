// A pull of 100 catalogs with a million resources, from the request to on_pull with the download ready, compared with COPY of the same documents into
// gzip (same level), which PostgreSQL starts. And the memory that this pull, and a search for the same catalogs, add to the service.
import { actions } from '../../dist/protocol/actions.js';
import { sideBySide } from '../measure.mjs';
import { startService } from '../service.mjs';
import { chooseSizes, sizeFrom } from '../sizes.mjs';
import { seedChargers } from '../support/seed-chargers.mjs';

const { catalogs, resources } = chooseSizes({
  whole: { catalogs: 100, resources: sizeFrom('BENCH_PULL_RESOURCES', 1_000_000) },
  miniature: { catalogs: 5, resources: 10 },
});
const resourcesPerCatalog = resources / catalogs;
const allowedBytes = 200e6;
const networkId = 'bench.org/pull';

export async function run({ repeat }) {
  const service = await startService({
    // Even a small pull is offered as a download.
    settings: { PULL_INLINE_LIMIT: '1kb' },
    prepare: (database) => seedChargers(database, { networkId, catalogs, resourcesPerCatalog }),
  });
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

/** Resources per second. */
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
  if (bytes !== Number(response.headers['content-length'])) throw new Error(`only ${bytes} bytes came`);
}

async function copyToGzip(database) {
  await database.query(
    `copy (select coalesce(assembled, own) from catalog.resource order by catalog_key, id) to program 'gzip > /dev/null'`,
  );
}
