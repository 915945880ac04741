// Search, question by question, beside OpenSearch and plain PostgreSQL with the same resources; then the discovery service over it, with signed requests.
//
// Measures `search()` of the port, with the parsed documents of the page, but without signatures, HTTP and storing the answer. "First time" means
// that this process was not asked the question before; the process checks this. Each round alternates all engines, so that a noisy machine affects
// them alike. A ratio above 1 is slower than the yardstick.
// Ours is measured after it has compacted its lists, which it always does after a bulk load; OpenSearch as it is after loading, and merged into one segment.
//
// --size is the number of resources (100,000); --data products uses real products instead of generated stations.
import { findObstacle, startOpenSearch } from '../../scripts/opensearch.mjs';
import { quantile } from '../measure.mjs';
import { indexes } from '../search/engines.mjs';
import { evaluate } from '../search/job.mjs';
import * as products from '../search/products.mjs';
import { kindRows, printTable, seedRows, tellSlowYardsticks, throughRows } from '../search/report.mjs';
import { measureRequests } from '../search/requests.mjs';
import { compact, seedFed, seedOpenSearch, seedOurs, seedPlain } from '../search/seed.mjs';
import * as stations from '../search/stations.mjs';
import { startService } from '../service.mjs';
import { chooseSizes } from '../sizes.mjs';

const sets = { stations, products };

/** `samples`: number of catalogs that questions are about and that are changed. `counted`: questions per kind and round whose hits are also counted. */
const sizes = chooseSizes({
  whole: {
    resources: 100_000,
    heapMb: 2_048,
    samples: 600,
    warmUps: 1_000,
    questions: 200,
    counted: 3,
    afterRestart: 100,
    pushes: 200,
    secondsPerRate: 3,
  },
  miniature: {
    resources: 90,
    heapMb: 512,
    samples: 12,
    warmUps: 13,
    questions: 2,
    counted: 1,
    afterRestart: 4,
    pushes: 2,
    secondsPerRate: 0.1,
  },
});

export async function* run({
  repeat,
  size: resources = sizes.resources,
  data: name = 'stations',
  withoutOpenSearch,
  withoutPostgresql,
}) {
  const data = sets[name];
  const obstacle = withoutOpenSearch
    ? 'it is not wanted'
    : process.env.BENCH_OPENSEARCH_URL
      ? undefined
      : findObstacle();
  if (obstacle) console.error(`bench: search beside OpenSearch is skipped: ${obstacle}`);
  if (data.isThere === false) {
    console.error('bench: search in products is skipped: TEST_DATA_DIR does not have them');
    return;
  }
  const title = `search in ${resources.toLocaleString('en-US')} ${name}`;
  const rows = [];
  let kept = [];
  const service = await startService({
    settings: { ROLES: 'registry,discovery' },
    prepare: async (database, { url }) => {
      tell(`loads ${resources.toLocaleString('en-US')} ${name}`);
      const seeded = await seedOurs(database, data, { resources, samples: 2 * sizes.samples });
      kept = seeded.kept;
      tell('compacts the lists');
      const value = await compact(database, url);
      rows.push({ scenario: `${title}: lists compacted after the load`, value, unit: 's' });
      const job = { data: name, databaseUrl: url, kept: asked(kept), repeat };
      const yardsticks = { obstacle, withoutPostgresql };
      rows.push(...(await beside({ title, name, data, resources, database, seeded, job, yardsticks })));
    },
  });
  try {
    yield* rows;
    yield* measureRequests(service, data, {
      title,
      asked: asked(kept),
      changed: kept.filter((_, index) => index % 2 === 1),
      repeat,
      ...sizes,
    });
  } finally {
    await service.close();
  }
}

/** Only half of the catalogs: later pushes change the answers of the others. */
function asked(kept) {
  return kept.filter((_, index) => index % 2 === 0);
}

/** Each step takes minutes with many resources. */
function tell(step) {
  console.error(`bench: ${step} …`);
}

async function beside({ title, name, data, resources, database, seeded, job, yardsticks }) {
  const { obstacle, withoutPostgresql } = yardsticks;
  const rows = [];
  if (!withoutPostgresql) tell('loads plain PostgreSQL');
  const plain = withoutPostgresql ? undefined : await seedPlain(database, data, { resources });
  const openSearch = obstacle ? undefined : await openOpenSearch();
  try {
    if (openSearch) tell('loads OpenSearch, alone and as our index');
    const filled = openSearch && (await seedOpenSearch(openSearch.url, data, { resources }));
    const fed = openSearch && (await seedFed(database, openSearch.url, { resources }));
    rows.push(...seedRows(title, seeded, { openSearch: filled, fed, plain }));
    const perRound = Math.ceil(sizes.questions / job.repeat);
    const evaluated = await evaluate({
      ...job,
      openSearchUrl: openSearch?.url,
      withoutPostgresql,
      rounds: job.repeat,
      perRound,
      ...sizes,
    });
    rows.push(...evaluated.kinds.flatMap((kind) => [...kindRows(title, kind), ...throughRows(title, kind)]));
    rows.push({
      scenario: `${title}: memory of the process after it`,
      value: evaluated.rss / 1e6,
      unit: 'MB',
    });
    printTable(title, evaluated.kinds);
    tellSlowYardsticks({ data: name, resources }, evaluated.kinds);
    const wrong = evaluated.kinds.flatMap((kind) => kind.wrong);
    if (wrong.length > 0) throw new Error(`${wrong.length} answers differ, the first of them: ${wrong[0]}`);
  } finally {
    await openSearch?.close();
  }
  const taken = [];
  for (let round = 0; round < job.repeat; round += 1) {
    const skip = sizes.questions;
    const restarted = { ...job, isRestart: true, questions: sizes.afterRestart, round, skip };
    taken.push(...(await evaluate(restarted)).taken);
  }
  for (const percentile of [50, 99])
    rows.push({
      scenario: `${title}: first ${sizes.afterRestart} questions after a restart, p${percentile}`,
      value: quantile(taken, percentile),
      unit: 'ms',
    });
  return rows;
}

/** BENCH_OPENSEARCH_URL names one that is already running: this bench removes its indexes from it at the end. */
async function openOpenSearch() {
  const url = process.env.BENCH_OPENSEARCH_URL;
  if (!url) return startOpenSearch({ heapMb: sizes.heapMb });
  return {
    url,
    close: () => fetch(`${url}/${indexes.loaded},${indexes.merged},${indexes.fed}-*`, { method: 'DELETE' }),
  };
}
