import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import { identifyProcess } from '../../src/storage/process-identity.ts';
import { catalog, plain } from '../support/catalogs/sample-catalogs.ts';
import { endLeases } from '../support/database/leases.ts';
import type { Actor } from '../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { served } from '../support/network/publish.ts';
import { type ServiceProcess, startCatalogProcess } from '../support/processes/service-process.ts';
import { until } from '../support/time.ts';

// WORKERS=2: two processes of the catalog service behind one port, and their supervisor, from the built files. Starting them takes longest, so most
// of the tests share them and run in order.

const perSecond = 10;

let network: TestNetwork;
let service: ServiceProcess;
let provider: Actor;

beforeAll(async () => {
  network = await startNetwork({ settings: { ROLES: 'registry' } });
  provider = await network.actor('provider');
  service = await start();
});
afterAll(async () => {
  await service?.kill();
  await network?.close();
});

describe('two workers', () => {
  it('answer on the same port', async () => {
    await until(async () => {
      expect((await ask('/health')).status).toBe(200);
      return new Set(logged('request').map(({ worker }) => worker)).size === 2;
    }, 'both workers to answer');
  });

  it('hold to the rate limit together', async () => {
    const eager = await network.actor('eager');
    const startedAt = performance.now();
    const statuses: number[] = [];
    for (let request = 0; request < 40; request += 1) {
      const { status } = await eager.send(actions.listSubscriptions, undefined, ownConnection);
      statuses.push(status);
    }
    const granted = statuses.filter((status) => status === 200).length;
    const refilled = ((performance.now() - startedAt) / 1_000) * perSecond;
    // Two buckets of twenty would have granted all at once. A worker pays back what it granted before it heard of the other's grants.
    const untold = 4;
    expect(granted).toBeGreaterThanOrEqual(2 * perSecond);
    expect(granted).toBeLessThanOrEqual(2 * perSecond + refilled + untold);
  });

  it('add up their metrics, and lose nothing that was acknowledged when one is killed, which comes back', async () => {
    const [pid] = await startedWorkers(2);
    const answered =
      'signpost_http_request_seconds_count{role="catalog",method="GET",route="/openapi.json",status="200"}';
    for (let request = 0; request < 10; request += 1) await ask('/openapi.json');
    expect(await metric(answered)).toBe(10);

    const publishes = Array.from({ length: 16 }, (_, index) => publish(`catalog-${index}`));
    await publishes[0];
    process.kill(pid ?? 0, 'SIGKILL');
    const acknowledged = (await Promise.all(publishes)).filter((published) => published !== undefined);
    await startedWorkers(3);
    expect(logged('Worker 1 ended (SIGKILL). It is started again in 0.2 s')).toHaveLength(1);
    await endLeases(network.database);
    for (const { messageId, catalogId } of acknowledged) {
      await provider.waitFor('catalog/on_publish', messageId);
      expect((await served(network.database, catalogId))?.resources).toHaveLength(1);
    }

    expect(await metric('signpost_worker_restarts_total')).toBe(1);
    for (let request = 0; request < 4; request += 1) await ask('/openapi.json');
    expect(await metric(answered)).toBe(14);
  });

  it('go on when one cannot be started again, which is tried with longer and longer pauses', async () => {
    const [, pid] = await startedWorkers(3);
    const { DATA_DIR, identities } = network.config;
    const file = join(DATA_DIR, 'keys', `${identities.catalog.id}.key-1.seed`);
    const seed = readFileSync(file);
    writeFileSync(file, 'no seed');
    process.kill(pid ?? 0, 'SIGKILL');
    const failures = () =>
      logged(`Cannot start: The signing key key-1 of ${identities.catalog.id} cannot be used`);
    await until(() => failures().length >= 2, 'it to be tried again');
    writeFileSync(file, seed);
    const told = failures().map(({ msg }) => String(msg));
    expect(told.slice(0, 2).map((line) => /again in ([\d.]+) s/.exec(line)?.[1])).toEqual(['0.4', '0.8']);
    expect(told[1]).toContain('look for its lines in this log ("worker":2)');
    expect((await ask('/health')).status).toBe(200);
    await startedWorkers(4);
  });

  it('are not started a second time on the same port: the command says so, and ends', async () => {
    const fault = await start().catch((error: Error) => error.message);
    const place = `127.0.0.1:${network.config.CATALOG_PORT}`;
    expect(fault).toContain(
      `signpost: Cannot listen on ${place}: another program listens there. Stop it, or set another CATALOG_PORT.`,
    );
  });

  it('answer what has begun to come in before they are told to stop', async () => {
    const finishing = await Promise.all([beginPublish('slow-1'), beginPublish('slow-2')]);
    const stopped = service.stop();
    await until(() => service.log.some((line) => line.includes('stopping')), 'the supervisor to hear of it');
    for (const finish of finishing) expect(await finish()).toMatch(/^HTTP\/1\.1 200 .*"ACK"/s);
    await stopped;
    expect(service.log.at(-1)).toBe('signpost: stopped.');
  });

  it('end within ten seconds, and leave the port, when their supervisor is killed', async () => {
    service = await start();
    const pids = await startedWorkers(2);
    await service.kill();
    await until(() => pids.every((pid) => identifyProcess(pid) === undefined), 'the workers to end', 10_000);
    const next = createServer().listen(network.config.CATALOG_PORT, '127.0.0.1');
    await once(next, 'listening');
    next.close();
    await until(() => logged('the supervisor has ended').length === 2, 'both to say why');
  });
});

function start(): Promise<ServiceProcess> {
  return startCatalogProcess(network, {
    LOG_LEVEL: 'debug',
    RATE_LIMIT_PER_SECOND: String(perSecond),
    WORKERS: '2',
  });
}

/** The processes of workers, in the order of their starts, once there are `count`. */
function startedWorkers(count: number): Promise<number[]> {
  return until(() => {
    const pids = logged('a worker has started').map(({ pid }) => Number(pid));
    return pids.length >= count && pids;
  }, `${count} workers to have started`);
}

function logged(part: string): Record<string, unknown>[] {
  return service.log
    .filter((line) => line.startsWith('{'))
    .map((line): Record<string, unknown> => JSON.parse(line))
    .filter(({ msg }) => String(msg).includes(part));
}

/** Each connection goes to the next worker. */
const ownConnection = { headers: { connection: 'close' } };

async function ask(path: string): Promise<{ status: number; body: string }> {
  const answer = await fetch(`${service.url}${path}`, ownConnection);
  return { status: answer.status, body: await answer.text() };
}

async function metric(name: string): Promise<number> {
  const lines = (await ask('/metrics')).body.split('\n');
  return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1));
}

/** Undefined if it was not acknowledged. */
async function publish(catalogId: string): Promise<{ messageId: string; catalogId: string } | undefined> {
  const answer = await provider
    .send(actions.publish, messageOf(catalogId), ownConnection)
    .catch(() => undefined);
  return answer?.status === 200 ? { messageId: answer.messageId, catalogId } : undefined;
}

function messageOf(catalogId: string) {
  return { catalogs: [catalog(catalogId, { resources: [plain('a')] })] };
}

/** A publish whose body is sent later. Once the service has its headers, returns a function that sends the rest and reads the answer. */
async function beginPublish(catalogId: string): Promise<() => Promise<string>> {
  const { body, authorization } = provider.sign(actions.publish, messageOf(catalogId));
  const socket = connect(network.config.CATALOG_PORT, '127.0.0.1');
  socket.write(
    `POST ${actions.publish.path} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\nconnection: close\r\n` +
      `content-length: ${body.length}\r\nauthorization: ${authorization}\r\n\r\n`,
  );
  const [goOn] = await once(socket, 'data');
  expect(String(goOn)).toMatch(/^HTTP\/1\.1 100 /);
  return () => {
    socket.write(body);
    return text(socket);
  };
}
