import { describe, expect, it } from 'vitest';
import { benchInMiniature } from '../support/bench.ts';
import { needs, obstacle, useOpenSearch } from '../support/search/opensearch.ts';

describe.skipIf(obstacle)(`npm run bench in miniature${needs}`, () => {
  let url = '';
  useOpenSearch((running) => {
    url = running;
  });

  it('runs the scenario opensearch to its end', async () => {
    await benchInMiniature(['opensearch']);
  });

  it('asks OpenSearch the same questions as us in the scenario search, and finds the same', async () => {
    const rows = await benchInMiniature(['search'], { BENCH_OPENSEARCH_URL: url });
    const compared = rows.filter(({ against }) => against?.startsWith('OpenSearch'));
    const first = compared.filter(({ scenario }) => scenario.endsWith('first time, p50'));
    expect(first.length).toBeGreaterThanOrEqual(12);
  });
});
