// A network with a registry, a catalog service and a discovery service that subscribes to it: catalogs are published and discovered with the client.
import { setTimeout as sleep } from 'node:timers/promises';
import { generateSeed, Signpost } from 'signpost-client';
import { startService } from '../service.mjs';

const networkId = 'nfh.global/beckn-nodes';
const untilPushedMs = 300_000;

/** Resolves when all resources are discovered. */
export async function startShop(catalogs) {
  const service = await startService({
    settings: ({ catalogUrl }) => ({
      ROLES: 'registry,catalog,discovery',
      DISCOVERY_SUBSCRIPTIONS: JSON.stringify([{ catalogUrl, networkIds: [networkId] }]),
    }),
  });
  const clients = [];
  const client = async (name) => {
    const identity = await service.identity(name, generateSeed());
    const signpost = new Signpost({ ...identity, allowPrivateAddresses: true });
    clients.push(signpost);
    await signpost.listen();
    return signpost;
  };
  const close = async () => {
    for (const each of clients) await each.close();
    await service.close();
  };
  try {
    const provider = await client('shop');
    for (const catalog of catalogs) {
      const [{ status, ...result }] = await provider.publish(catalog);
      if (status !== 'ACCEPTED') throw new Error(JSON.stringify(result).slice(0, 1_000));
    }
    await untilIndexed(
      service.database,
      catalogs.reduce((sum, { resources }) => sum + resources.length, 0),
    );
    const consumer = await client('shopper');
    return { find: (query, size) => find(consumer, query, size), database: service.database, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function untilIndexed(database, resources) {
  for (const end = performance.now() + untilPushedMs; performance.now() < end; await sleep(100)) {
    const { rows } = await database.query('select count(*)::int as count from discovery.resource');
    if (rows[0].count === resources) return;
  }
  throw new Error(`not all ${resources} resources are discovered`);
}

/** The ids of the first hits, in the order of the client. */
async function find(consumer, query, size) {
  const ids = [];
  for await (const { resource } of consumer.discover(query, { pageSize: size })) {
    ids.push(resource.id);
    if (ids.length === size) break;
  }
  return ids;
}
