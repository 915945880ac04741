import { expect, it } from 'vitest';
import { catalog, charger } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { laterFormat } from '../../../tests/support/search/index-formats.ts';
import { readConfig } from '../../config.ts';
import { silentLogger } from '../../logger.ts';
import type { Database } from '../../storage/database.ts';
import { createThreadPool } from '../../thread-pool.ts';
import { createDeadline } from '../deadline.ts';
import { type IndexFormats, indexFormats } from '../entries/index-format.ts';
import { createSearch } from '../port.ts';
import { createTrace } from '../trace.ts';
import { writeIndex } from '../write/write-index.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

/** Spells the paths of geometries differently. */
const formats: IndexFormats = [
  ...indexFormats,
  {
    ...laterFormat,
    geometries: {
      ...laterFormat.geometries,
      find: (document, root) =>
        laterFormat.geometries
          .find(document, root)
          .map((found) => ({ ...found, path: `${found.path} (later)` })),
      targetPath(target) {
        const path = laterFormat.geometries.targetPath(target);
        return path && `${path} (later)`;
      },
    },
  },
];

it.each([1, 2])('Near misses know the paths that the entries of version %s have.', async (version) => {
  await database.query('truncate discovery.catalog, index_1.geometry cascade');
  await database.query('update discovery.generation set version = $1', [version]);
  const resource = { ...charger('r'), places: [{ geo: { type: 'Point', coordinates: [10, 50] } }] };
  const incoming = {
    ...{ source: 'node', owner: 'provider.example/reg', networks: null },
    ...{ type: 'REGULAR' as const, mode: 'FULL' as const, catalog: catalog('c', { resources: [resource] }) },
  };
  await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply([incoming]), formats));

  const config = readConfig({});
  const threads = createThreadPool({ size: 1, logger: silentLogger() });
  const service = createSearch({ config, database, threads, now: () => new Date(), formats });
  const findNear = async (targets: string) => {
    const geometry = { type: 'Point' as const, coordinates: [-60, 10] };
    const spatial = [{ op: 'S_DWITHIN' as const, targets, geometry, distanceMeters: 10 }];
    const question = { message: { intent: { spatial } }, scope: {} };
    const { answer } = await service.search(question);
    expect(answer.resourceCount).toBe(0);
    const missed = {
      ...question,
      deadline: createDeadline(config.DISCOVER_TIMEOUT_MS),
      trace: createTrace(),
    };
    return (await service.findNearMisses(missed)).map(({ says }) => says);
  };
  expect(await findNear('$.catalogs[*].resources[*].places[*].geo')).toEqual([]);
  expect(await findNear('$.catalogs[*].resources[*].place[*].geo')).toEqual([
    expect.stringMatching(/^There is no geometry at /),
  ]);
  await threads.close();
});
