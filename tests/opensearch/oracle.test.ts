import { randomUUID } from 'node:crypto';
import { describe, it } from 'vitest';
import { holdAgainstTheBook } from '../support/search/by-the-book.ts';

const seed = 20_261_115;

describe('discover with an index in OpenSearch', () => {
  it('answers what a plain evaluation of every document answers', async () => {
    const settings = {
      SEARCH_INDEX: 'opensearch',
      OPENSEARCH_URL: process.env.OS_URL ?? '',
      OPENSEARCH_PREFIX: `oracle-${randomUUID()}`,
    };
    await holdAgainstTheBook({ indexes: 60, questions: 30, seed: 77, settings: [settings] });
  }, 600_000);
});
