// Publishing catalogs of chargers, from the request to on_publish, compared with plain SQL that writes the same rows into the same tables with the
// same commits. And publishing into a service that already holds a million resources, compared with an empty one.
import { randomUUID } from 'node:crypto';
import { actions } from '../../dist/protocol/actions.js';
import { sideBySide } from '../measure.mjs';
import { startService } from '../service.mjs';
import { chooseSizes, sizeFrom } from '../sizes.mjs';
import { rowsOf, seedCatalogs, writeAll } from '../support/plain-publish.mjs';

/** The warm-ups are enough to have the hot code compiled. */
const { publishers, publishesEach, resourcesPerCatalog, heldCatalogs, warmUps } = chooseSizes({
  whole: {
    publishers: 4,
    publishesEach: 8,
    resourcesPerCatalog: 1_000,
    heldCatalogs: sizeFrom('BENCH_HELD_CATALOGS', 1_000),
    warmUps: 3,
  },
  miniature: { publishers: 2, publishesEach: 2, resourcesPerCatalog: 3, heldCatalogs: 2, warmUps: 1 },
});
const resources = publishers * publishesEach * resourcesPerCatalog;

export async function run({ repeat }) {
  const empty = await startService();
  let full;
  try {
    const inEmpty = await start(empty);
    const first = await sideBySide({ repeat, ours: inEmpty.publish, yardstick: inEmpty.write });
    full = await startService({ prepare: (database) => seedCatalogs(database, newCatalog(), heldCatalogs) });
    const inFull = await start(full);
    const second = await sideBySide({ repeat, ours: inFull.publish, yardstick: inEmpty.publish });
    const held = (heldCatalogs * resourcesPerCatalog).toLocaleString('en-US');
    return [
      row(`publish of ${resourcesPerCatalog} resources, to on_publish`, first, 'the same rows by plain SQL'),
      row(`the same into a service that holds ${held} resources`, second, 'into an empty one'),
    ];
  } finally {
    await empty.close();
    await full?.close();
  }
}

function row(scenario, { value, ratio }, against) {
  return { scenario, value, unit: 'resources/s', against, ratio };
}

/** Both ways to get catalogs into the database of a service, as rates. */
async function start(service) {
  const nodes = [];
  for (let n = 0; n < publishers; n += 1) nodes.push(await service.participant(`bpp-${n}`));
  const publish = () => rate(nodes.flatMap(requestsOf), publishAll);
  const write = () => rate(nodes.flatMap(requestsOf).map(rowsOf), (all) => writeAll(service.database, all));
  for (let round = 0; round < warmUps; round += 1) await publish();
  return { publish, write };
}

/** Resources per second. The requests are prepared before the clock starts. */
async function rate(prepared, work) {
  const begin = performance.now();
  await work(prepared);
  return (resources * 1000) / (performance.now() - begin);
}

function requestsOf(node) {
  return Array.from({ length: publishesEach }, () => {
    const catalog = newCatalog();
    const publishDirectives = [{ catalogId: catalog.id, catalogType: 'REGULAR', updateMode: 'FULL' }];
    return {
      node,
      request: node.prepare(actions.publish, { catalogs: [catalog], publishDirectives }, 'bpp'),
    };
  });
}

/** All publishers at once, each waiting for the ACK before its next publish, and at the end for all results. */
async function publishAll(all) {
  const callbacks = [];
  await Promise.all(
    [...new Set(all.map(({ node }) => node))].map(async (node) => {
      for (const { request } of all.filter((one) => one.node === node)) {
        const { response, callback } = await node.post(request);
        await response.body.dump();
        callbacks.push(callback);
      }
    }),
  );
  for (const { message } of await Promise.all(callbacks)) {
    if (message.results[0].status !== 'ACCEPTED') throw new Error(JSON.stringify(message));
  }
}

function newCatalog() {
  const id = `catalog-${randomUUID()}`;
  return {
    id,
    descriptor: { name: `Catalog ${id}` },
    provider: { id: 'p', descriptor: { name: 'Provider' } },
    resources: Array.from({ length: resourcesPerCatalog }, (_, n) => charger(`charger-${n}`, n)),
  };
}

/** About 700 bytes, with attributes that are checked. */
function charger(id, n) {
  const power = { value: 22 + (n % 300), unit: 'kW' };
  return {
    id,
    descriptor: {
      name: `Charger ${n}`,
      shortDesc: `Fast charging at bay ${n % 37}`,
      longDesc: `Open around the clock. ${randomUUID()} Parking is free while charging.`,
    },
    resourceAttributes: {
      '@context': 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld',
      '@type': 'EnergyResourceEVCharger',
      id,
      type: 'EV_CHARGER',
      attributes: {
        connectorType: ['CCS2', 'Type2', 'CHAdeMO'][n % 3],
        controlProtocol: 'OCPP_2.0.1',
        serialNumber: randomUUID(),
        ratedPower: power,
        maxImport: power,
      },
    },
  };
}
