import { describe, expect, it } from 'vitest';
import { catalog } from '../support/catalogs/sample-catalogs.ts';
import { createEmptyDatabase } from '../support/database/database.ts';
import { endLeases } from '../support/database/leases.ts';
import { freePort } from '../support/free-port.ts';
import { startNetwork } from '../support/network/network.ts';
import { publish, submit } from '../support/network/publish.ts';
import { patienceMs } from '../support/patience.ts';
import { startCatalogProcess, startServiceProcess } from '../support/processes/service-process.ts';
import { until, watchFor } from '../support/time.ts';

// The service in a separate process, which is killed.

describe.concurrent('a service that is killed', () => {
  it('during a delivery sends the same bytes after its restart, and nothing again that was confirmed', async () => {
    const network = await startNetwork({ settings: { ROLES: 'registry' } });
    let service = await startCatalogProcess(network);
    try {
      const provider = await network.actor('provider');
      const attempts: Buffer[] = [];
      let isHanging = false;
      provider.behave(async ({ raw }) => {
        attempts.push(raw);
        return isHanging ? { status: 200, delayMs: patienceMs } : undefined;
      });
      await publish(provider, catalog('confirmed'));
      await until(async () => {
        const { rowCount } = await network.database.query(
          "select from work.callback where state = 'delivered'",
        );
        return rowCount === 1;
      }, 'the confirmation to be recorded');

      isHanging = true;
      const messageId = await submit(provider, catalog('unconfirmed'));
      await until(() => attempts.length === 2, 'the delivery to begin');
      await service.kill();
      isHanging = false;
      await endLeases(network.database);
      service = await startCatalogProcess(network);
      await provider.waitFor('catalog/on_publish', messageId);

      await watchFor(1_000);
      expect(attempts).toHaveLength(3);
      expect(attempts[2]?.equals(attempts[1] ?? Buffer.alloc(0))).toBe(true);
    } finally {
      await service.kill();
      await network.close();
    }
  });
});

describe.concurrent('two processes of a service', () => {
  it('that start at the same moment on one empty database both come up, and end when they are told to', async () => {
    const [network, database] = [
      await startNetwork({ settings: { ROLES: 'registry' } }),
      await createEmptyDatabase(),
    ];
    try {
      const ports = [await freePort(), await freePort()];
      const services = await Promise.all(
        ports.map((port) =>
          startServiceProcess('catalog', {
            DATABASE_URL: database.url,
            DATA_DIR: network.config.DATA_DIR,
            REGISTRY_URL: network.config.registryUrl,
            CATALOG_ID: network.config.identities.catalog.id,
            CATALOG_PORT: String(port),
          }),
        ),
      );
      expect(services.map(({ url }) => url)).toEqual(ports.map((port) => `http://127.0.0.1:${port}`));
      for (const { url } of services) {
        const response = await fetch(`${url}/ready`);
        expect(response.status).toBe(200);
      }
      await Promise.all(services.map((service) => service.stop()));
    } finally {
      await network.close();
      await database.drop();
    }
  });
});
