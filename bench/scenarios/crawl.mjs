// The first crawl of a network, from its enumeration to the last catalog in the index, compared with a bare loop over the same bytes (gunzip,
// SHA-256, JSON.parse, canonical form, Ed25519) with plain inserts of the same rows into the same tables, one commit per catalog. The memory that
// such a crawl adds to the service. And a poll of unchanged indexes, compared with a bare loop of conditional GETs.
//
// Sizes: BENCH_CRAWL_NODES, BENCH_CRAWL_CATALOGS (per node), BENCH_CRAWL_RESOURCES (per catalog) and BENCH_CRAWL_POLLED (indexes).
import { sideBySide } from '../measure.mjs';
import { chooseSizes, sizeFrom } from '../sizes.mjs';
import { untilCounted, withCrawler } from '../support/crawled-network.mjs';
import { crawlBarely, emptyTables, keepRows } from '../support/plain-crawl.mjs';
import { startBarePoll } from '../support/plain-poll.mjs';

const { nodes, catalogs, resources, polled } = chooseSizes({
  whole: {
    nodes: sizeFrom('BENCH_CRAWL_NODES', 1_000),
    catalogs: sizeFrom('BENCH_CRAWL_CATALOGS', 20),
    resources: sizeFrom('BENCH_CRAWL_RESOURCES', 50),
    polled: sizeFrom('BENCH_CRAWL_POLLED', 10_000),
  },
  miniature: { nodes: 2, catalogs: 2, resources: 2, polled: 3 },
});

export async function run({ repeat }) {
  return [...(await firstCrawl(repeat)), ...(await poll(repeat))];
}

async function firstCrawl(repeat) {
  const size = { nodes, catalogs, resources };
  return withCrawler(size, async ({ service, crawl, port }) => {
    const { database } = service;
    const ours = async () => {
      await emptyTables(database);
      return rate(nodes * catalogs * resources, crawl);
    };
    const yardstick = async () => {
      await emptyTables(database);
      return crawlBarely(database, { ...size, port });
    };
    const memory = await service.watchMemory(ours);
    await keepRows(database);
    const result = await sideBySide({ repeat, ours, yardstick, isWarm: true });
    const megabytes = ['start', 'middle', 'end', 'peak'].map((when) => Math.round(memory[when] / 1e6));
    return [
      {
        scenario: `first crawl of ${nodes} nodes with ${catalogs} catalogs of ${resources} resources each`,
        value: result.value,
        unit: 'resources/s',
        against: 'a bare loop over the same bytes with plain inserts',
        ratio: result.ratio,
      },
      {
        scenario: `memory of the service at the end of such a crawl (start, middle, end, peak: ${megabytes.join(', ')} MB)`,
        value: memory.end / 1e6,
        unit: 'MB',
        against: 'its middle',
        ratio: memory.end / memory.middle,
      },
    ];
  });
}

async function poll(repeat) {
  const size = { nodes: polled, catalogs: 1, resources: 1 };
  return withCrawler(size, async ({ service, crawl }) => {
    const { database } = service;
    await crawl();
    await database.query('vacuum analyze');
    const { rows } = await database.query('select url, etag from discovery.crawl_index order by id');
    const ours = () => rate(polled, () => pollAll(database));
    const bare = startBarePoll();
    const yardstick = () => rate(polled, () => bare.poll(rows));
    const result = await sideBySide({ repeat, ours, yardstick });
    await bare.close();
    return [
      {
        scenario: `poll of ${polled} unchanged indexes, one of each node`,
        value: result.value,
        unit: 'indexes/s',
        against: 'a bare loop of conditional GETs',
        ratio: result.ratio,
      },
    ];
  });
}

/** Items per second. */
async function rate(count, work) {
  const begin = performance.now();
  await work();
  return (count * 1000) / (performance.now() - begin);
}

/** Makes every index due at once; ends when none is due any more. */
async function pollAll(database) {
  const { rowCount } = await database.transaction(async (tx) => {
    await tx.query('update discovery.crawl_index set due_at = now()');
    const woken = await tx.query('update discovery.crawl_host set due_at = now()');
    tx.hint('discovery.crawl_host');
    return woken;
  });
  await untilCounted(
    database,
    'select count(*) as count from discovery.crawl_index where due_at > now()',
    rowCount,
  );
}
