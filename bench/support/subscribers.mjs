// Discovery Services that subscribe to one network of a catalog service, catalogs in it, and simultaneous changes of all catalogs.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../../dist/protocol/keys.js';
import { appendChange } from '../../dist/storage/catalog/change-log.js';
import { registerParticipant } from '../../dist/storage/registry/participants.js';

const registryName = 'subscribers.beckn.one';

/** One for each address; several may share an address. */
export async function seedSubscribers(database, urls, networkId) {
  for (const [index, url] of urls.entries()) {
    const namespace = `ds-${index}.bench`;
    await registerParticipant(database, {
      namespace,
      registryName,
      subscriberId: namespace,
      url,
      networkIds: [networkId],
      key: { recordId: 'key-1', publicKey: publicKeyOf(privateKeyFromSeed(generateSeed())) },
    });
    await database.query(
      `insert into catalog.subscription (id, owner, status, network_ids, schema_types, created_at, updated_at)
       values ($1, $2, 'ACTIVE', array[$3], '{}', now(), now())`,
      [randomUUID(), `${namespace}/${registryName}`, networkId],
    );
  }
}

/** Changes everything in one transaction; resolves, once the receivers (servers/receivers.mjs) have `pushes`, with the milliseconds since the commit. */
export async function changeAll(database, receivers, { pushes, untilAcknowledged = async () => {} }) {
  receivers.send({ count: pushes });
  await once(receivers, 'message');
  await database.transaction(async (tx) => {
    const { rows } = await tx.query(
      'update catalog.catalog set version = version + 1 returning key as "catalogKey", version',
    );
    await tx.query('update catalog.resource set changed_version = changed_version + 1');
    const logged = { publisher: 'provider.bench', kind: 'merge', at: new Date(), details: '{}' };
    for (const row of rows) await appendChange(tx, { ...row, ...logged });
  });
  const begin = performance.now();
  await once(receivers, 'message');
  await untilAcknowledged(database);
  return performance.now() - begin;
}

export async function allAcknowledged(database) {
  for (;;) {
    const { rows } = await database.query(
      'select count(*) as open from catalog.push join catalog.catalog on key = catalog_key where acknowledged_version < version',
    );
    if (rows[0].open === 0) return;
    await delay(2);
  }
}
