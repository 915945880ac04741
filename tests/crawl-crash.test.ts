import { describe, expect, it } from 'vitest';
import { rouse, settled } from './support/crawl.ts';
import { crawlThroughKills, startProviders } from './support/crawl-crashes.ts';
import { until } from './support/receiver.ts';

// Crawlers in processes of their own: killed, two at a time, and one that comes back when others have done its work.

const timeoutMs = 180_000;

describe('crawlers', () => {
  it(
    'that are killed at any moment leave no catalog half applied, and the next one skips none',
    () => crawlThroughKills({ nodes: 6, catalogs: 4, kills: 5 }),
    timeoutMs,
  );

  it(
    'share the work: each file is fetched once, however many crawl',
    async () => {
      const crawled = await startProviders(8, 3);
      const { network, providers, publishAll, startCrawler, expectWhole } = crawled;
      try {
        const crawlers = await Promise.all([startCrawler(), startCrawler()]);
        await settled(network.database);
        for (let round = 0; round < 3; round += 1) {
          await publishAll();
          for (const { requests } of providers) requests.length = 0;
          await rouse(network.database);
          await settled(network.database, { timeoutMs: 60_000 });
          expect(await expectWhole()).toBe(8 * 3);
          for (const { requests } of providers) {
            const fetched = requests.filter(({ status }) => status === 200).map(({ path }) => path);
            expect(fetched.filter((path) => path.startsWith('/catalogs/'))).toHaveLength(3);
            expect([...new Set(fetched)]).toEqual(fetched);
          }
        }
        await Promise.all(crawlers.map((crawler) => crawler.stop()));
      } finally {
        await crawled.end();
      }
    },
    timeoutMs,
  );

  it(
    'write nothing when their lease ran out: another one has gone on since',
    async () => {
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
        // As the lease of one that hangs would by itself, in a while.
        await network.database.query("update discovery.crawl_host set leased_until = now() - interval '1 s'");

        await startCrawler();
        await publishAll();
        await rouse(network.database);
        await settled(network.database);
        expect(await expectWhole()).toBe(1);

        answer();
        halted.goOn();
        await until(() => halted.log.some((line) => line.includes('was lost')), 'it to notice', 60_000);
        expect(await expectWhole()).toBe(1);
        const { rows } = await network.database.query(
          'select failures, last_code from discovery.crawl_target',
        );
        expect(rows).toEqual([{ failures: 0, last_code: null }]);
      } finally {
        await crawled.end();
      }
    },
    timeoutMs,
  );
});
