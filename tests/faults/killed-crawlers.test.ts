import { describe, expect, it } from 'vitest';
import { endLeases } from '../support/database/leases.ts';
import { rouse, settled } from '../support/hosted/crawl.ts';
import { until } from '../support/time.ts';
import { crawlThroughKills, startProviders } from './crawled-providers.ts';
import { faultOptions, strikes, times } from './fault-run.ts';

// Crawlers in separate processes: some are killed, and one returns after others have done its work.

describe('crawlers', () => {
  it(
    'that are killed at any moment leave no catalog half applied, and the next one skips none',
    faultOptions,
    strikes(
      'SIGKILL of a crawler',
      (run) => crawlThroughKills(run, { nodes: times(3, 5), catalogs: times(2, 3), kills: times(1, 40) }),
      { isKill: true },
    ),
  );

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
