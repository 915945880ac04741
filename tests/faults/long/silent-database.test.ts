import { expect, it } from 'vitest';
import { catalog } from '../../support/catalogs/sample-catalogs.ts';
import { openLine } from '../../support/database/severed-line.ts';
import { startNetwork } from '../../support/network/network.ts';
import { submit } from '../../support/network/publish.ts';
import { startCatalogProcess } from '../../support/processes/service-process.ts';
import { watchFor } from '../../support/time.ts';
import { through } from '../world.ts';

/** The grace period of the systemd unit and the Compose file in deploy/. */
const graceMs = 30_000;
const silenceMs = 60_000;

it('a process whose database takes connections and never answers ends when it is told to, and says that it had to give up', async () => {
  const network = await startNetwork({ settings: { ROLES: 'registry' } });
  const line = await openLine(network.databaseUrl);
  const service = await startCatalogProcess(network, { DATABASE_URL: through(line, network.databaseUrl) });
  try {
    const provider = await network.actor('provider');
    await submit(provider, catalog('before'));
    line.slowDown(silenceMs);
    await watchFor(1_000);
    const toldAt = performance.now();
    await expect(service.stop()).rejects.toThrow('Did not stop cleanly: not everything had ended');
    expect(performance.now() - toldAt).toBeLessThan(graceMs);
  } finally {
    await service.kill();
    await line.close();
    await network.close();
  }
});
