import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { coffee, publishExtending, publishMaster } from '../support/catalogs/masters.ts';
import { catalog, plain } from '../support/catalogs/sample-catalogs.ts';
import { endLeases } from '../support/database/leases.ts';
import type { Actor } from '../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { publish, served, submit } from '../support/network/publish.ts';
import { type ServiceProcess, startCatalogProcess } from '../support/processes/service-process.ts';
import { until } from '../support/time.ts';

// A publish during which a process or one of its threads died: it is retried alone in a worker thread, and rejected only if its own resource use ends
// that thread, too.

let network: TestNetwork;
let facilitator: Actor;
let provider: Actor;
let service: ServiceProcess;

beforeAll(async () => {
  network = await startNetwork({ settings: { ROLES: 'registry' } });
  facilitator = await network.actor('facilitator');
  provider = await network.actor('provider');
});
afterEach(() => service.kill());
afterAll(() => network.close());

async function attemptsOf(actor: Actor): Promise<number> {
  const { rows } = await network.database.query<{ attempts: number }>(
    'select attempts from catalog.lane where publisher like $1',
    [`${actor.id}/%`],
  );
  return rows[0]?.attempts ?? 0;
}

describe('a publish during which the process ended', () => {
  it('is applied at last, however often somebody kills the process from outside', async () => {
    service = await startCatalogProcess(network);
    let messageId = '';
    await whileHeld('unlucky', async () => {
      messageId = await submit(provider, catalog('unlucky', { resources: [plain('r')] }));
      let before = 0;
      for (let kills = 0; kills < 3; kills += 1) {
        const isUnderWay = async () => (await attemptsOf(provider)) > before && isWaiting();
        await until(isUnderWay, 'the work to be under way');
        await service.kill();
        before = await attemptsOf(provider);
        await endLeases(network.database);
        service = await startCatalogProcess(network);
      }
    });
    const { body } = await provider.waitFor('catalog/on_publish', messageId);
    expect(body.message.results).toMatchObject([{ catalogId: 'unlucky', status: 'ACCEPTED' }]);
    await until(async () => (await attemptsOf(provider)) === 0, 'the turn to have ended well');
  });

  /** Blocks other work on the catalog meanwhile: a session holds its lock, because idle transactions are ended. */
  async function whileHeld(catalogId: string, work: () => Promise<void>): Promise<void> {
    const session = new pg.Client({ connectionString: network.databaseUrl });
    await session.connect();
    try {
      await session.query('select pg_advisory_lock(hashtextextended($1, 0))', [`catalog ${catalogId}`]);
      await work();
    } finally {
      await session.end();
    }
  }

  /** Whether a transaction of the service waits for the lock that the test holds. */
  async function isWaiting(): Promise<boolean> {
    const { rowCount } = await network.database.query(
      `select from pg_locks where locktype = 'advisory' and not granted
       and database = (select oid from pg_database where datname = current_database())`,
    );
    return rowCount > 0;
  }
});

describe('a publish that takes too much memory', () => {
  it('NET_INTERNAL_ERROR: is rejected after it was tried alone; the service goes on, and so does its publisher', async () => {
    const unbounded = '100gb';
    service = await startCatalogProcess(network, {
      // The same for every thread.
      NODE_OPTIONS: '--max-old-space-size=200',
      MASTER_PUBLISHERS: '*',
      INHERITED_RESOURCE_LIMIT: unbounded,
      INHERITED_CATALOG_LIMIT: unbounded,
      INHERITED_PUBLISH_LIMIT: unbounded,
      INHERITED_PUBLISHER_LIMIT: unbounded,
    });
    const template = coffee('huge', { text: 'x'.repeat(4_000_000) });
    await publishMaster(facilitator, catalog('templates', { resources: [template] }));
    const resources = Array.from({ length: 200 }, (_, index) => ({ id: `r${index}` }));
    expect(await publishExtending(provider, catalog('bomb', { resources }), 'huge')).toEqual({
      catalogId: 'bomb',
      status: 'REJECTED',
      errors: [
        {
          code: 'NET_INTERNAL_ERROR',
          message:
            'The catalog could not be processed: it takes too much memory. Publish fewer resources at a time.',
        },
      ],
    });
    expect(await served(network.database, 'bomb')).toBeUndefined();
    const next = catalog('next', { resources: [plain('r')] });
    expect(await publish(provider, next)).toMatchObject({ status: 'ACCEPTED' });
    expect(service.log.join('\n')).toContain('a catalog cannot be processed; it is rejected');
  });
});
