// Fan-out: catalogs change, and 20 subscribers are each pushed all of them, from the commit of the change to the last acknowledgement; compared with
// a bare loop that signs and posts the same bodies to the same receivers with the same concurrency.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'undici';
import { generateSeed, privateKeyFromSeed } from '../../dist/protocol/keys.js';
import { signRequest } from '../../dist/protocol/request-signature.js';
import { sideBySide } from '../measure.mjs';
import { startService } from '../service.mjs';
import { chooseSizes } from '../sizes.mjs';
import { seedChargers } from '../support/seed-chargers.mjs';
import { allAcknowledged, changeAll, seedSubscribers } from '../support/subscribers.mjs';

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
    const ours = async () => {
      const change = { pushes, untilAcknowledged: allAcknowledged };
      return (pushes * 1000) / (await changeAll(service.database, receivers, change));
    };
    // The first pushes are FULL, all others MERGE. The rounds also warm up the service, like one that runs for days.
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
  await seedSubscribers(
    database,
    ports.map((port) => `http://127.0.0.1:${port}`),
    networkId,
  );
  await seedChargers(database, { networkId, catalogs, resourcesPerCatalog });
}
