import { describe, it } from 'vitest';
import { holdAgainstTheBook } from '../support/search/by-the-book.ts';
import { catchUp, needs, obstacle, openSearchSettings, useOpenSearch } from '../support/search/opensearch.ts';

describe.skipIf(obstacle)(`discover with OpenSearch, at length${needs}`, () => {
  let url = '';
  useOpenSearch((running) => {
    url = running;
  });

  it('answers what a plain evaluation of every document answers, thousands of times', async () => {
    await holdAgainstTheBook({
      ...{ indexes: 100, questions: 20 },
      settings: [openSearchSettings(url)],
      catchUp: (database) => catchUp(database, url),
    });
  }, 3_600_000);
});
