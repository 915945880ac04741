import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Action, actions } from '../../../src/protocol/actions.ts';
import { pullPushesForward } from '../../../src/storage/catalog/pushes.ts';
import { catalog, plain } from '../../support/catalogs/sample-catalogs.ts';
import { endLeases } from '../../support/database/leases.ts';
import type { Actor, Exchange } from '../../support/network/actor.ts';
import { filter, resourceIds } from '../../support/network/discover.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { type ServiceProcess, startServiceProcess } from '../../support/processes/service-process.ts';
import { takeTime, until } from '../../support/time.ts';
import { type FaultRun, faultOptions, type Outcome, strikes } from '../fault-run.ts';

// WORKERS=2 with the catalog and the discovery service, from the built files. A provider publishes versions of a catalog, which the catalog service
// pushes to the discovery service, and consumers search for them, while workers and their supervisor are killed.

let network: TestNetwork;
let service: ServiceProcess;
let provider: Actor;
let consumer: Actor;

beforeAll(async () => {
  network = await startNetwork({ settings: { ROLES: 'registry' } });
  [provider, consumer] = [await network.actor('provider'), await network.actor('shopper')];
  service = await start();
});
afterAll(async () => {
  await service?.kill();
  await network?.close();
});

it(
  'workers that are killed, or hang, or lose their supervisor lose no publish and answer no search wrongly, and are replaced',
  faultOptions,
  strikes('SIGKILL of a worker or its supervisor', killWorkers, { isKill: true }),
);

async function killWorkers(run: FaultRun): Promise<Outcome> {
  await publish(1);
  await untilFound(1);
  let isOver = false;
  const whileOn = async (work: () => Promise<void>) => {
    while (!isOver) await work();
  };
  const working = Promise.all([
    ...Array.from({ length: 3 }, () => whileOn(search)),
    whileOn(async () => {
      await publish(lastVersion.begun + 1);
      await takeTime(100);
    }),
  ]);
  working.catch(() => undefined); // awaited below

  const hanging = await findWorker(2);
  process.kill(hanging, 'SIGSTOP');
  for (let kills = 1; kills <= 2; kills++) {
    await killWorker(run, 1);
    await until(() => logged('Worker 1 ended (SIGKILL)') === kills, 'the end of a worker to be told');
  }
  await untilReplaced(2, hanging);
  expect(logged('Worker 2 ended (it has not answered for 20 s, and was killed)')).toBe(1);
  await killWorker(run, 2);

  await service.kill();
  run.count();
  const killedAt = performance.now();
  await run.recover(killedAt, async () => {
    service = await start();
  });
  await endLeases(network.database);
  isOver = true;
  await working;
  await untilFound(lastVersion.begun);
  const isTold = (id: string) => provider.received.some(({ body }) => body.context.messageId === id);
  await until(() => acknowledged.every(isTold), 'every on_publish').catch(() => undefined);
  const { rowCount: appliedTwice } = await network.database.query(
    'select from catalog.change_log group by catalog_key, submission_id having count(*) > 1',
  );
  return {
    acknowledged: acknowledged.length + answered,
    lost: acknowledged.filter((id) => !isTold(id)).length,
    appliedTwice,
  };
}

function start(): Promise<ServiceProcess> {
  const { config, databaseUrl, catalogUrl } = network;
  const { catalog: catalogService, discovery } = config.identities;
  return startServiceProcess('catalog,discovery', {
    WORKERS: '2',
    DATABASE_URL: databaseUrl,
    DATA_DIR: config.DATA_DIR,
    REGISTRY_URL: config.registryUrl,
    CATALOG_ID: catalogService.id,
    CATALOG_PORT: String(config.CATALOG_PORT),
    DISCOVERY_ID: discovery.id,
    DISCOVERY_PORT: String(config.DISCOVERY_PORT),
    DISCOVERY_SUBSCRIPTIONS: JSON.stringify([{ catalogUrl, networkIds: [defaultNetwork] }]),
    ALLOW_PRIVATE_ADDRESSES: 'true',
    LOG_LEVEL: 'info',
    RETRY_BASE_MS: '50',
    OVERLOAD_EVENT_LOOP_MS: '60000',
  });
}

async function killWorker(run: FaultRun, number: number): Promise<void> {
  const pid = await findWorker(number);
  await takeTime(run.between(0, 500));
  process.kill(pid, 'SIGKILL');
  run.count();
  await run.recover(performance.now(), () => untilReplaced(number, pid));
  await endLeases(network.database);
}

async function untilReplaced(number: number, pid: number): Promise<void> {
  await until(async () => (await findWorker(number)) !== pid, `worker ${number} to be replaced`);
}

/** The current process with this number. */
function findWorker(number: number): Promise<number> {
  return until(() => {
    const started = service.log
      .filter((line) => line.includes('a worker has started'))
      .map((line) => JSON.parse(line))
      .filter(({ worker }) => worker === number);
    return started.at(-1)?.pid;
  }, `worker ${number} to start`);
}

function logged(part: string): number {
  return service.log.filter((line) => line.includes(part)).length;
}

const lastVersion = { begun: 0, seen: 0 };
/** The acknowledged publishes. */
const acknowledged: string[] = [];
/** The number of answered searches. */
let answered = 0;

/** Each version has one resource, named after it. */
async function publish(version: number): Promise<void> {
  lastVersion.begun = version;
  const resources = [{ ...plain(`v${version}`), state: 'on' }];
  const publishDirectives = [
    { catalogId: 'switch', catalogType: 'REGULAR', updateMode: 'FULL', visibleTo: [defaultNetwork] },
  ];
  const message = { catalogs: [catalog('switch', { resources })], publishDirectives };
  const { status, messageId } = await sendUntilAnswered(provider, actions.publish, message);
  expect(status).toBe(200);
  acknowledged.push(messageId);
}

/** A search sees every version that an earlier search has seen, no matter which worker answered. */
async function search(): Promise<void> {
  const { seen } = lastVersion;
  const message = filter('$.catalogs[*].resources[?@.state == "on"]');
  const { status, messageId } = await sendUntilAnswered(consumer, actions.discover, message);
  const { begun } = lastVersion;
  // The first version has not arrived yet.
  if (seen === 0 && status === 202) return;
  expect(status).toBe(200);
  const found = resourceIds((await consumer.waitFor('on_discover', messageId)).body);
  expect(found).toHaveLength(1);
  const version = Number(found[0]?.slice(1));
  expect(version).toBeGreaterThanOrEqual(seen);
  expect(version).toBeLessThanOrEqual(begun);
  lastVersion.seen = Math.max(lastVersion.seen, version);
  answered += 1;
}

async function untilFound(version: number): Promise<void> {
  let hurryAt = 0;
  await until(async () => {
    // On a slow machine the service may have been away for so long that the next attempt is minutes away. Not often, because it makes pushes under
    // way due again.
    if (Date.now() > hurryAt) await pullPushesForward(network.database, 0);
    if (Date.now() > hurryAt) hurryAt = Date.now() + hurryEveryMs;
    await search();
    return lastVersion.seen === version;
  }, `version ${version} to be found`);
}

/** Sends the same message again if its worker died or hangs. */
async function sendUntilAnswered(as: Actor, action: Action, message: object): Promise<Exchange> {
  const to = action === actions.publish ? network.catalogUrl : network.discoveryUrl;
  const context = {
    messageId: randomUUID(),
    transactionId: randomUUID(),
    timestamp: new Date().toISOString(),
  };
  for (;;) {
    const sent = as.send(action, message, { to, context, headers: { connection: 'close' } });
    const answer = await Promise.race([sent.catch(() => undefined), takeTime(patientMs)]);
    if (answer && answer.status !== 503) return answer;
    await takeTime(100);
  }
}

/** Connections to a worker that hangs get no answer. */
const patientMs = 5_000;

const hurryEveryMs = 15_000;
