import { describe, expect, it } from 'vitest';
import { rouse, settled } from '../support/crawl.ts';
import { endLeases } from '../support/leases.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/time.ts';
import { crawlThroughKills, startProviders } from './crawled-providers.ts';
import { faultOptions, strikes, times } from './fault-run.ts';

// Crawlers in processes of their own: killed, two at a time, and one that comes back when others have done its work.

describe('crawlers', () => {
  it(
    'that are killed at any moment leave no catalog half applied, and the next one skips none',
    faultOptions,
    strikes(
      'SIGKILL of a crawler',
      (run) => crawlThroughKills(run, { nodes: 5, catalogs: 3, kills: times(2, 40) }),
      { isKill: true },
    ),
  );

  it('share the work: each file is fetched once and applied once, however many crawl', async () => {
    const crawled = await startProviders(8, 3);
    const { network, providers, publishAll, startCrawler, expectWhole } = crawled;
    try {
      const crawlers = await Promise.all([startCrawler(), startCrawler()]);
      await settled(network.database);
      for (let round = 0; round < 2; round += 1) {
        await publishAll();
        for (const { requests } of providers) requests.length = 0;
        await rouse(network.database);
        await settled(network.database);
        expect(await expectWhole()).toBe(8 * 3);
        for (const { requests } of providers) {
          const fetched = requests.filter(({ status }) => status === 200).map(({ path }) => path);
          expect(fetched.filter((path) => path.startsWith('/catalogs/'))).toHaveLength(3);
          expect([...new Set(fetched)]).toEqual(fetched);
        }
      }
      const applied = await Promise.all(crawlers.map(countApplied));
      expect(applied.reduce((sum, count) => sum + count, 0)).toBe(2 * 8 * 3);
      await Promise.all(crawlers.map((crawler) => crawler.stop()));
    } finally {
      await crawled.end();
    }
  });

  it('write nothing when their lease ran out: another one has gone on since', async () => {
    const crawled = await startProviders(1, 1);
    const { network, providers, publishAll, startCrawler, expectWhole } = crawled;
    const [provider] = providers;
    try {
      await publishAll();
      let isAsked = false;
      let answer = () => {};
      provider?.spoil(async (path) => {
        if (!path.startsWith('/catalogs/') || isAsked) return undefined;
        isAsked = true;
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return undefined;
      });
      const halted = await startCrawler();
      await until(() => isAsked, 'the first file to be asked for');
      halted.halt();
      await endLeases(network.database);
      await startCrawler();
      await publishAll();
      await rouse(network.database);
      await settled(network.database);
      expect(await expectWhole()).toBe(1);

      answer();
      halted.goOn();
      await until(() => halted.log.some((line) => line.includes('was lost')), 'it to notice');
      expect(await expectWhole()).toBe(1);
      const { rows } = await network.database.query('select failures, last_code from discovery.crawl_target');
      expect(rows).toEqual([{ failures: 0, last_code: null }]);
    } finally {
      await crawled.end();
    }
  });
});

/** How many catalogs a crawler has brought up to date. */
async function countApplied({ url }: ServiceProcess): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^signpost_crawl_applied_total\S* (\d+)$/m.exec(metrics)?.[1] ?? 0);
}
