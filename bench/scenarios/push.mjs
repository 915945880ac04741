// Fan-out: catalogs change, and each of 20 subscribers is pushed all of them, from the commit of the change to the last acknowledgement;
// against a bare loop that signs and posts the same bodies to the same receivers with the same concurrency.
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent } from 'undici';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../../dist/protocol/keys.js';
import { signRequest } from '../../dist/protocol/request-signature.js';
import { appendChange } from '../../dist/storage/catalog/change-log.js';
import { registerParticipant } from '../../dist/storage/registry/participants.js';
import { sideBySide } from '../measure.mjs';
import { startService } from '../service.mjs';
import { chooseSizes } from '../sizes.mjs';
import { seedChargers } from '../support/seed-chargers.mjs';

const { subscribers, catalogs, resourcesPerCatalog, warmUpRounds } = chooseSizes({
  whole: { subscribers: 20, catalogs: 50, resourcesPerCatalog: 250, warmUpRounds: 3 },
  miniature: { subscribers: 2, catalogs: 2, resourcesPerCatalog: 3, warmUpRounds: 1 },
});
const pushes = subscribers * catalogs;
/** As many as the service sends to one subscriber at a time. */
const postsPerReceiver = 4;
const networkId = 'bench.org/push';

export async function run({ repeat }) {
  const receivers = fork(new URL('../servers/receivers.mjs', import.meta.url), [String(subscribers)]);
  try {
    const [ports] = await once(receivers, 'message');
    return await measure({ repeat, receivers, ports });
  } finally {
    receivers.disconnect();
  }
}

async function measure({ repeat, receivers, ports }) {
  const service = await startService({ prepare: (database) => seed(database, ports) });
  try {
    const ours = () => change(service.database, receivers);
    // The first pushes are FULL, all others MERGE; and a service that runs for days is measured when it is warm.
    for (let round = 0; round < warmUpRounds; round += 1) await ours();
    const bodies = await lastBodies(receivers);
    const result = await sideBySide({ repeat, ours, yardstick: () => post(ports, bodies) });
    const size = Math.round(bodies.reduce((sum, body) => sum + body.length, 0) / bodies.length / 1000);
    return [
      {
        scenario: `push of ${catalogs} catalogs (${size} kB each) to ${subscribers} subscribers`,
        value: result.value,
        unit: 'pushes/s',
        against: 'a bare loop that signs and posts the same bodies',
        ratio: result.ratio,
      },
    ];
  } finally {
    await service.close();
  }
}

/** Changes everything in one transaction, and waits until everybody has it. */
async function change(database, receivers) {
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
  const start = performance.now();
  await once(receivers, 'message');
  await allAcknowledged(database);
  return (pushes * 1000) / (performance.now() - start);
}

async function allAcknowledged(database) {
  for (;;) {
    const { rows } = await database.query(
      'select count(*) as open from catalog.push join catalog.catalog on key = catalog_key where acknowledged_version < version',
    );
    if (rows[0].open === 0) return;
    await delay(2);
  }
}

async function lastBodies(receivers) {
  receivers.send('bodies');
  const [texts] = await once(receivers, 'message');
  return texts.map((text) => Buffer.from(text));
}

async function post(ports, bodies) {
  const agent = new Agent({ connections: postsPerReceiver });
  const key = {
    subscriberId: 'catalog.bench',
    recordId: 'key-1',
    privateKey: privateKeyFromSeed(generateSeed()),
  };
  const start = performance.now();
  await Promise.all(ports.map((port) => postAll(`http://127.0.0.1:${port}`, bodies)));
  const rate = (pushes * 1000) / (performance.now() - start);
  await agent.close();
  return rate;

  async function postAll(origin) {
    const waiting = [...bodies];
    const next = async () => {
      for (let body = waiting.pop(); body !== undefined; body = waiting.pop()) {
        const { statusCode, body: answer } = await agent.request({
          origin,
          path: '/catalog/push',
          method: 'POST',
          headers: {
            authorization: signRequest(key, body, { now: new Date() }),
            'content-type': 'application/json',
          },
          body,
        });
        await answer.json();
        if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
      }
    };
    await Promise.all(Array.from({ length: postsPerReceiver }, next));
  }
}

/** Subscribers of one network, and catalogs in it. */
async function seed(database, ports) {
  for (const [index, port] of ports.entries()) {
    const [namespace, registryName] = [`ds-${index}.bench`, 'subscribers.beckn.one'];
    await registerParticipant(database, {
      namespace,
      registryName,
      subscriberId: namespace,
      url: `http://127.0.0.1:${port}`,
      networkIds: [networkId],
      key: { recordId: 'key-1', publicKey: publicKeyOf(privateKeyFromSeed(generateSeed())) },
    });
    await database.query(
      `insert into catalog.subscription (id, owner, status, network_ids, schema_types, created_at, updated_at)
       values ($1, $2, 'ACTIVE', array[$3], '{}', now(), now())`,
      [randomUUID(), `${namespace}/${registryName}`, networkId],
    );
  }
  await seedChargers(database, { networkId, catalogs, resourcesPerCatalog });
}
