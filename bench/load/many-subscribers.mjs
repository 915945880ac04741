// Thousands of subscriptions to one catalog service, one of them with a slow receiver, which must not delay the others.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { sideBySide } from '../measure.mjs';
import { startService } from '../service.mjs';
import { seedChargers } from '../support/seed-chargers.mjs';
import { changeAll, seedSubscribers } from '../support/subscribers.mjs';

const networkId = 'bench.org/subscribers';
/** Subscribers share ports, because there are not thousands of them. */
const ports = 20;
const slowMs = 20_000;

export async function* measureManySubscribers({ subscribers, catalogs, resourcesPerCatalog, repeat }) {
  const slow = await startSlowReceiver();
  const receivers = fork(new URL('../servers/receivers.mjs', import.meta.url), [String(ports)]);
  try {
    const [given] = await once(receivers, 'message');
    const quick = Array.from({ length: subscribers - 1 }, (_, n) => `http://127.0.0.1:${given[n % ports]}`);
    const service = await startService({
      prepare: async (database) => {
        await seedSubscribers(database, [...quick, slow.url], networkId);
        await seedChargers(database, { networkId, catalogs, resourcesPerCatalog });
      },
    });
    try {
      const pushes = quick.length * catalogs;
      const change = async (delayMs) => {
        slow.delayMs = delayMs;
        return (pushes * 1000) / (await changeAll(service.database, receivers, { pushes }));
      };
      const result = await sideBySide({ repeat, ours: () => change(slowMs), yardstick: () => change(0) });
      yield {
        scenario: `push of ${catalogs} catalogs to ${subscribers.toLocaleString('en-US')} subscribers, one of them slow`,
        value: result.value,
        unit: 'pushes/s',
        against: `the same with none slow (${Math.round(result.bare)})`,
        ratio: result.ratio,
      };
    } finally {
      await service.close();
    }
  } finally {
    receivers.disconnect();
    slow.close();
  }
}

async function startSlowReceiver() {
  const receiver = { delayMs: 0 };
  const server = createServer(async (request, response) => {
    request.resume();
    await sleep(receiver.delayMs, undefined, { ref: false });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ message: { status: 'ACK' } }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  receiver.url = `http://127.0.0.1:${server.address().port}`;
  receiver.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return receiver;
}
