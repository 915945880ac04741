import { expect, it } from 'vitest';
import { rouse, settled } from '../../support/hosted/crawl.ts';
import type { ServiceProcess } from '../../support/processes/service-process.ts';
import { startProviders } from '../crawled-providers.ts';

const nodes = 8;
const catalogsEach = 3;
const rounds = 2;

it('crawlers share the work: each file is fetched once and applied once, however many crawl', async () => {
  const crawled = await startProviders(nodes, catalogsEach);
  const { network, providers, publishAll, startCrawler, expectWhole } = crawled;
  try {
    const crawlers = await Promise.all([startCrawler(), startCrawler()]);
    await settled(network.database);
    for (let round = 0; round < rounds; round += 1) {
      await publishAll();
      for (const { requests } of providers) requests.length = 0;
      await rouse(network.database);
      await settled(network.database);
      expect(await expectWhole()).toBe(nodes * catalogsEach);
      for (const { requests } of providers) {
        const fetched = requests.filter(({ status }) => status === 200).map(({ path }) => path);
        expect(fetched.filter((path) => path.startsWith('/catalogs/'))).toHaveLength(catalogsEach);
        expect([...new Set(fetched)]).toEqual(fetched);
      }
    }
    const applied = await Promise.all(crawlers.map(countApplied));
    expect(applied.reduce((sum, count) => sum + count, 0)).toBe(rounds * nodes * catalogsEach);
    await Promise.all(crawlers.map((crawler) => crawler.stop()));
  } finally {
    await crawled.end();
  }
});

/** How many catalogs a crawler has brought up to date. */
async function countApplied({ url }: ServiceProcess): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^signpost_crawl_applied_total\S* (\d+)$/m.exec(metrics)?.[1] ?? 0);
}
