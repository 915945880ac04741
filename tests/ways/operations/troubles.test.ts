import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { silentLogger } from '../../../src/logger.ts';
import { type Process, startProcess } from '../../../src/main.ts';
import { identityOf, splitIdentity } from '../../../src/protocol/identity.ts';
import { feedTable } from '../../../src/storage/feeds/feeds.ts';
import { registerParticipant } from '../../../src/storage/registry/participants.ts';
import { type Line, openLine } from '../../support/database/severed-line.ts';
import { freePort } from '../../support/free-port.ts';
import type { Body } from '../../support/network/actor.ts';
import { consoleOf } from '../../support/network/console.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { commandLine } from '../../support/processes/up-process.ts';
import { until } from '../../support/time.ts';

// A discovery service that is not registered: the catalog service refuses its subscription with 401. One list reports this: in the body of /ready, as
// a metric, in the built `signpost status` and `signpost check`, and in the data of the Health page.

let network: TestNetwork;
let discovery: Process;
let settings: Record<string, string>;
let dataDir: string;
let line: Line;

beforeAll(async () => {
  network = await startNetwork({ settings: { ROLES: 'registry,catalog,console' } });
  line = await openLine(network.catalogUrl);
  dataDir = await mkdtemp(join(tmpdir(), 'signpost-troubles-'));
  settings = {
    ...{ ROLES: 'discovery', DATABASE_URL: network.databaseUrl, DATA_DIR: dataDir },
    ...{ DISCOVERY_ID: 'stranger.signpost.test', DISCOVERY_PORT: String(await freePort()) },
    ...{ REGISTRY_URL: network.config.registryUrl, ALLOW_PRIVATE_ADDRESSES: 'true', RETRY_BASE_MS: '50' },
    ...{ OPERATIONS_PORT: String(await freePort()), OVERLOAD_EVENT_LOOP_MS: '60000', LOG_LEVEL: 'silent' },
    DISCOVERY_SUBSCRIPTIONS: JSON.stringify([{ catalogUrl: line.url, networkIds: [defaultNetwork] }]),
  };
  await start();
});
afterAll(async () => {
  await discovery?.close();
  await line?.close();
  await network?.close();
  if (dataDir) await rm(dataDir, { recursive: true });
});

async function start(): Promise<void> {
  discovery = await startProcess(readConfig(settings), { logger: silentLogger() });
}

const operations = () => `http://127.0.0.1:${settings.OPERATIONS_PORT}`;

async function readReady(at = operations()): Promise<{ status: number; body: Body }> {
  const answer = await fetch(`${at}/ready`);
  return { status: answer.status, body: await answer.json() };
}
const readTroubles = async (): Promise<Body[]> => (await readReady()).body.roles.discovery.troubles;

async function readMetric(at = operations()): Promise<Record<string, number>> {
  const text = await (await fetch(`${at}/metrics`)).text();
  const samples = text.matchAll(/^signpost_troubles\{kind="([\w-]+)"\} (\d+)$/gm);
  return Object.fromEntries([...samples].map(([, kind = '', value]) => [kind, Number(value)]));
}

/** Makes the feed out of step for longer. Runs between two steps, because a running step would write the time that it has read. */
async function letPass(time: string): Promise<void> {
  await until(async () => {
    const { rowCount } = await network.database.query(
      `update discovery.feed set out_of_step_since = out_of_step_since - $1::interval where lease_token is null`,
      [time],
    );
    return rowCount === 1;
  }, 'the feed to rest');
}

/** The built command line, away from any .env file. */
function run(...args: string[]): Promise<{ exitCode: number; out: string; notes: string }> {
  const env = { PATH: process.env.PATH, ...settings };
  return new Promise((resolve) => {
    execFile(process.execPath, [commandLine, ...args], { env, cwd: dataDir }, (error, out, notes) =>
      resolve({ exitCode: Number(error?.code ?? 0), out, notes }),
    );
  });
}

describe('a discovery service that nobody has registered', () => {
  it('says so at /ready at once, and stays ready', async () => {
    const { status, body } = await readReady();
    expect([status, body.ready]).toEqual([200, true]);
    expect(body.roles.discovery.troubles).toEqual([
      {
        ...{ kind: 'key-not-registered', role: 'discovery', since: expect.stringMatching(/^2.*Z$/) },
        what: expect.stringContaining('The registry does not know stranger.signpost.test.'),
        next: expect.stringContaining('signpost registry register stranger.signpost.test --key-id key-1'),
      },
    ]);
  });

  it('says that its subscription is refused, once that has lasted for minutes', async () => {
    await until(async () => {
      const { rows } = await network.database.query('select last_status as status from discovery.feed');
      return rows[0]?.status === 401;
    }, 'the subscription to be refused');
    await letPass('3 minutes');
    expect(await readTroubles()).toMatchObject([
      { kind: 'key-not-registered' },
      {
        kind: 'subscription-refused',
        what: expect.stringMatching(/is refused by the catalog service at .* answered with 401: AUT_\w+/),
      },
    ]);
  });

  it('has the same troubles in the metric, and at the console in another process', async () => {
    expect(await readMetric()).toEqual({
      ...{ 'key-not-registered': 1, 'subscription-refused': 1, 'feed-not-in-step': 0 },
    });
    const { items } = await consoleOf(network).get('/api/health/troubles');
    expect(items).toEqual(await readTroubles());
  });

  it('has the same troubles in signpost status, which ends with 1', async () => {
    const troubles = await readTroubles();
    const here = await run('status', '--json');
    expect(JSON.parse(here.out)).toMatchObject({
      roles: [{ role: 'discovery', state: 'ready' }],
      troubles,
    });
    const given = await run('status', operations(), network.catalogUrl);
    expect([here.exitCode, given.exitCode]).toEqual([1, 1]);
    expect(given.out).toMatch(/^discovery +ready .*\n^catalog +ready /m);
    for (const { what, since, next } of troubles) {
      expect(given.out).toContain(`trouble    discovery, since ${since}: ${what}\n`);
      expect(given.out).toContain(`  next     ${next}\n`);
    }
  });

  it('has the same troubles in signpost check, which ends with 1', async () => {
    const { exitCode, out, notes } = await run('check', '--no-index', '--wait', '0');
    expect(exitCode).toBe(1);
    for (const { what, since, next } of await readTroubles())
      expect(out).toContain(`${what} Since ${since}. ${next}\n`);
    expect(notes).toContain('2 differences.');
  });

  it('has no trouble any more once it is registered and in step', async () => {
    const { body } = await readReady();
    const { publicKey, recordId } = body.roles.discovery.key;
    const { discovery: identity } = readConfig(settings).identities;
    await registerParticipant(network.database, {
      ...splitIdentity(identityOf(identity.id, network.config.REGISTRY_NAME)),
      ...{ subscriberId: identity.id, url: identity.url, networkIds: [defaultNetwork] },
      key: { recordId, publicKey },
    });
    // Each remembers for half a minute that the registry lacked the key.
    await discovery.close();
    await network.restart();
    await start();
    await until(async () => (await readTroubles()).length === 0, 'no trouble');
    await until(async () => {
      const { rows } = await network.database.query('select out_of_step_since as since from discovery.feed');
      return rows[0]?.since === null;
    }, 'the feed to be in step');
    expect(await readMetric()).toMatchObject({ 'key-not-registered': 0, 'subscription-refused': 0 });
    expect((await consoleOf(network).get('/api/health/troubles')).items).toEqual([]);
    const status = await run('status', operations());
    expect(status).toMatchObject({ exitCode: 0, out: expect.not.stringContaining('trouble') });
  });

  it('is not in step with a catalog service that has not answered for minutes, and is again once that answers', async () => {
    const { database } = network;
    await line.cut();
    await database.transaction(async (tx) => {
      await tx.query('update discovery.feed set check_at = null, due_at = now()');
      tx.hint(feedTable);
    });
    await until(async () => {
      const { rowCount } = await database.query('select from discovery.feed where failures > 1');
      return rowCount === 1;
    }, 'the feed to fail');
    expect(await readTroubles()).toEqual([]);
    await letPass('6 minutes');
    expect(await readTroubles()).toMatchObject([
      {
        kind: 'feed-not-in-step',
        what: expect.stringMatching(/^The discovery service is out of sync with the catalog service at http/),
        next: expect.stringContaining(`Check that ${line.url} answers from this machine`),
      },
    ]);
    expect((await run('status', operations())).exitCode).toBe(1);
    await line.mend();
    // Pushes during the outage are repeated, so nothing was missed, and no new pull is needed.
    await until(async () => (await readTroubles()).length === 0, 'the feed to be in step');
  });
});

describe('a publisher without a database that nobody has registered', () => {
  it('says so at /ready and as a metric', async () => {
    const ports = ['PUBLISHER_PORT', 'PUBLISHER_TRIGGER_PORT', 'OPERATIONS_PORT'];
    const free = await Promise.all(ports.map(async (name) => [name, String(await freePort())]));
    const publisher = {
      ...{ ROLES: 'publisher', PUBLISHER_ID: 'nobody.signpost.test', ...Object.fromEntries(free) },
      ...{ DATA_DIR: dataDir, REGISTRY_URL: network.config.registryUrl, ALLOW_PRIVATE_ADDRESSES: 'true' },
    };
    const running = await startProcess(readConfig(publisher), { logger: silentLogger() });
    try {
      const { body } = await until(async () => {
        const ready = await readReady(running.operationsUrl);
        return ready.status === 200 && ready;
      }, 'the publisher to be ready');
      expect(body.roles.publisher.troubles).toMatchObject([
        { kind: 'key-not-registered', role: 'publisher' },
      ]);
      expect(await readMetric(running.operationsUrl)).toMatchObject({ 'key-not-registered': 1 });
    } finally {
      await running.close();
    }
  });
});
