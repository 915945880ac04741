import { expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import type { Catalog } from '../../src/protocol/catalog.ts';
import { createSearch, writeIndex } from '../../src/search/port.ts';
import type { Database } from '../../src/storage/database.ts';
import { createThreadPool } from '../../src/thread-pool.ts';
import { catalog } from '../support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../support/database/database.ts';
import { takeTime } from '../support/time.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

const versions = 25;
const pauseMs = 20;
const places = [0, 1, 2, 3, 4, 5, 6, 7];

it('a catalog that is replaced while it is searched is found as it was or as it is, never empty', async () => {
  const logger = silentLogger();
  const threads = createThreadPool({ size: 1, logger });
  const service = createSearch({ config: readConfig({}), database, threads, now: () => new Date() });
  const seen = new Set<string>();
  let isOver = false;
  const search = async (expression: string) => {
    while (!isOver) {
      const intent = { filters: { type: 'jsonpath' as const, expression } };
      const { answer } = await service.search({ message: { intent }, scope: {} });
      const found: Catalog[] = JSON.parse(answer.catalogs);
      seen.add(found.flatMap(({ resources = [] }) => resources.map(({ id }) => id)).join());
    }
  };
  await publish(0);
  const searches = Promise.all([
    search('$.catalogs[*].resources[?@.state == "on"]'),
    search('$.catalogs[*].resources[?@.state == "on" && @.half >= 0]'),
  ]);
  for (let version = 1; version <= versions; version++) {
    await publish(version);
    await takeTime(pauseMs);
  }
  isOver = true;
  await searches.finally(() => threads.close());
  expect([...seen].sort()).toEqual(['r0,r2,r4,r6', 'r1,r3,r5,r7']);
});

/** In every other version, every other resource is on. */
async function publish(version: number): Promise<void> {
  const resources = places.map((place) => {
    const half = (place + version) % 2;
    return { id: `r${place}`, descriptor: { name: 'Switch' }, state: half === 0 ? 'on' : 'off', half };
  });
  const incoming = {
    ...{ source: 'node', owner: 'provider.example/reg', type: 'REGULAR' as const, networks: null },
    ...{ mode: 'FULL' as const, catalog: catalog('switches', { resources }) },
  };
  await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply([incoming])));
}
