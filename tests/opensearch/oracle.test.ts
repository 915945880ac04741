import { afterAll, beforeAll, describe, it } from 'vitest';
import { holdAgainstTheBook } from '../support/search/by-the-book.ts';
import { type Cluster, obstacle, openSearchSettings, startCluster } from '../support/search/open-search.ts';

/** The indexes and questions are those of tests/search/by-the-book.test.ts, always the same except in the long form (npm run test:long). */
const seed = process.env.NEW_CASES ? undefined : 20_261_115;

describe.skipIf(obstacle)(
  `discover, with an index in OpenSearch as with lists (needs Java 17 and Maven)`,
  () => {
    let cluster: Cluster;

    beforeAll(async () => {
      cluster = await startCluster();
    });
    afterAll(() => cluster.close());

    it('answers what a plain evaluation of every document answers', async () => {
      const settings = [openSearchSettings(cluster.urls), {}];
      await holdAgainstTheBook({ indexes: 20, questions: 10, seed, settings });
    });

    it('answers so from an index that came about by changes', async () => {
      const settings = [openSearchSettings(cluster.urls)];
      await holdAgainstTheBook({ indexes: 6, questions: 15, seed, byChanges: true, settings });
    });
  },
);
