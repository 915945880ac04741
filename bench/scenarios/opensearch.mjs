// OpenSearch as the index of discover (SEARCH_INDEX=opensearch) beside our own lists, with one database and the same questions: question by question, each for the first time, in turns, where
// both must answer the same; then the discovery service with each of them, one after the other. Beside that stands how fast the index is built, and what it takes of disk and memory.
//
// --size says how many stations there are (100,000), --nodes how many nodes OpenSearch has (1).

import { readConfig } from '../../dist/config.js';
import { silentLogger } from '../../dist/logger.js';
import { rebuildOpenSearch } from '../../dist/search/port.js';
import { openDatabase } from '../../dist/storage/database.js';
import { findObstacle, startOpenSearch } from '../../scripts/opensearch.mjs';
import { evaluate } from '../search/job.mjs';
import { kindRows } from '../search/report.mjs';
import { measureRequests } from '../search/requests.mjs';
import { seedOurs } from '../search/seed.mjs';
import * as stations from '../search/stations.mjs';
import { openPostgres, startService } from '../service.mjs';
import { chooseSizes } from '../sizes.mjs';
import { childrensMemory } from '../support/memory.mjs';

const sizes = chooseSizes({
  whole: {
    resources: 100_000,
    heapMb: 1_024,
    samples: 600,
    warmUps: 600,
    questions: 150,
    pushes: 100,
    secondsPerRate: 3,
  },
  miniature: {
    resources: 90,
    heapMb: 512,
    samples: 12,
    warmUps: 13,
    questions: 2,
    pushes: 2,
    secondsPerRate: 0.1,
  },
});

export async function* run({ repeat, size: resources = sizes.resources, nodes = 1, withoutOpenSearch }) {
  const postgres = await openPostgres();
  const database = await openDatabase({ url: postgres.url, logger: silentLogger(), maxConnections: 4 });
  try {
    const { kept } = await seedOurs(database, stations, { resources, samples: 2 * sizes.samples });
    const obstacle = withoutOpenSearch ? 'it is not wanted' : findObstacle();
    if (obstacle) console.error(`bench: OpenSearch as the index is skipped: ${obstacle}`);
    yield* compareIndexes({ postgres, database, kept, resources, repeat, nodes: obstacle ? 0 : nodes });
  } finally {
    await database.close();
    await postgres.close();
  }
}

/** In a database that has the stations; without nodes, our own lists alone. */
export async function* compareIndexes({ postgres, database, kept, resources, repeat, nodes }) {
  const title = `${resources.toLocaleString('en-US')} stations`;
  const requests = {
    asked: kept.filter((_, index) => index % 2 === 0),
    changed: kept.filter((_, index) => index % 2 === 1),
    ...{ repeat, ...sizes },
  };
  const opensearch = nodes > 0 ? await startOpenSearch({ heapMb: sizes.heapMb, nodes }) : undefined;
  try {
    const settings = opensearch && {
      ...{ SEARCH_INDEX: 'opensearch', OPENSEARCH_URL: opensearch.urls.join() },
    };
    if (settings) yield* build(`${title} in OpenSearch`, { database, settings, opensearch });
    yield* ask(title, { postgres, settings, ...requests });
    yield* serve(`${title}, our lists`, { postgres, settings: {}, ...requests });
    if (!settings) return;
    const name = `${title}, OpenSearch with ${nodes === 1 ? 'one node' : `${nodes} nodes`}`;
    yield* serve(name, { postgres, settings, ...requests });
    const memory = opensearch.nodes.map((node) => childrensMemory(node.processId()));
    yield { scenario: `${name}: memory of all nodes`, value: sum(memory) / 1e6, unit: 'MB' };
  } finally {
    await opensearch?.close();
  }
}

async function* build(title, { database, settings, opensearch }) {
  const begin = performance.now();
  const config = readConfig({ ...process.env, ...settings });
  const tools = { logger: silentLogger(), onProgress() {} };
  const resources = await rebuildOpenSearch({ config, database }, tools);
  const seconds = (performance.now() - begin) / 1000;
  yield { scenario: `${title}: building the index`, value: resources / seconds, unit: 'resources/s' };
  const stats = await fetch(`${opensearch.url}/signpost-*/_stats/store`);
  const { _all } = await stats.json();
  const bytes = _all.total.store.size_in_bytes;
  yield { scenario: `${title}: size of the index, all copies`, value: bytes / 1e6, unit: 'MB' };
}

async function* ask(title, { postgres, settings, asked, repeat }) {
  const { kinds } = await evaluate({
    ...{ data: 'stations', databaseUrl: postgres.url, kept: asked, isAlone: true, indexSettings: settings },
    ...{ rounds: repeat, perRound: Math.ceil(sizes.questions / repeat), warmUps: sizes.warmUps },
  });
  yield* kinds.flatMap((kind) => kindRows(title, kind));
}

async function* serve(title, { postgres, settings, ...requests }) {
  const service = await startService({
    postgres,
    settings: { ROLES: 'registry,discovery', ...settings },
  });
  try {
    yield* measureRequests(service, stations, { title, ...requests });
  } finally {
    await service.close();
  }
}

function sum(numbers) {
  return numbers.reduce((total, each) => total + each, 0);
}
