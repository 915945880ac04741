import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { silentLogger } from '../../src/logger.ts';
import { findCluster } from '../../src/storage/embedded/cluster.ts';
import { findPostmaster } from '../../src/storage/embedded/postmaster.ts';
import { freePort } from '../support/free-port.ts';
import { type ServiceProcess, startServiceProcess } from '../support/processes/service-process.ts';
import { makeDataDir } from '../support/processes/up-process.ts';
import { until, watchFor } from '../support/time.ts';

// A process whose embedded database is gone for good: killed, with all its files deleted. It waits, and stops when asked.

/** The grace period of the systemd unit and the Compose file in deploy/. */
const graceMs = 30_000;

it('a process whose database was killed and deleted does not spin, makes no empty one in its place, and ends when it is told to', async () => {
  const { dataDir, remove } = await makeDataDir();
  const service = await startServiceProcess('registry,catalog,discovery', {
    DATA_DIR: dataDir,
    EMBEDDED_DATABASE: 'true',
    CATALOG_ID: 'catalog.example',
    DISCOVERY_ID: 'discovery.example',
    REGISTRY_PORT: `${await freePort()}`,
    CATALOG_PORT: `${await freePort()}`,
    DISCOVERY_PORT: `${await freePort()}`,
  });
  try {
    const home = join(dataDir, 'postgres');
    const cluster = await findCluster(home);
    if (!cluster) throw new Error('there is no database');
    const postmaster = await findPostmaster(cluster, silentLogger());
    process.kill(postmaster?.pid ?? 0, 'SIGKILL');
    // Its processes write for a moment after the first of them is killed.
    const remove = async () => {
      for (const path of [cluster.dataDirectory, home]) await rm(path, { recursive: true, force: true });
    };
    await vi.waitFor(remove, { timeout: 10_000, interval: 100 });
    await until(() => service.log.some((line) => line.includes('are gone')), 'the loss to be told');

    const before = await readProcessorSeconds(service);
    await watchFor(3_000);
    expect((await readProcessorSeconds(service)) - before).toBeLessThan(1.5);

    const toldAt = performance.now();
    await service.stop();
    expect(performance.now() - toldAt).toBeLessThan(graceMs);
    await expect(stat(home)).rejects.toThrow('ENOENT');
  } finally {
    await service.kill();
    await remove();
  }
});

async function readProcessorSeconds({ url }: ServiceProcess): Promise<number> {
  const metrics = await (await fetch(new URL('/metrics', url))).text();
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(metrics)?.[1] ?? Number.NaN);
}
