import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { benchInMiniature } from './support/bench.ts';
import { obstacle } from './support/opensearch.ts';

// The benchmarks measure what changes every day, and nobody runs them every day: here each runs in miniature, on the built files.

/** Where there is an OpenSearch, tests/opensearch-contract.test.ts has the search measured beside it. */
const scenarios = readdirSync('bench/scenarios')
  .map((file) => file.replace('.mjs', ''))
  .filter((scenario) => scenario !== 'search' || obstacle);

describe('npm run bench', () => {
  it.each(scenarios)('runs the scenario %s to its end in miniature', async (scenario) => {
    // tests/opensearch/bench.test.ts has the rest of it.
    await benchInMiniature(scenario === 'opensearch' ? [scenario, '--without-opensearch'] : [scenario]);
  });

  it('counts no question as asked for the first time that was asked before', async () => {
    const { createLedger } = await import(new URL('../bench/search/questions.mjs', import.meta.url).href);
    const { first, again } = createLedger();
    const question = (word: string) => ({ message: { intent: { textSearch: word }, limit: 20 } });
    first(question('charger'));
    again(question('charger'));
    expect(() => first(question('charger'))).toThrow('asked before, so not for the first time');
    expect(() => again(question('parking'))).toThrow('not asked before, so not again');
  });

  it('calls a run invalid in which a yardstick is much slower than it was when it was chosen', async () => {
    const { findSlowYardsticks } = await import(
      new URL('../bench/search/yardsticks.mjs', import.meta.url).href
    );
    const measured = (engine: string, kind: string) =>
      engine === 'openSearch' && kind === 'radius' ? 5 : 0.2;
    const million = { data: 'stations', resources: 1_000_000 };
    expect(findSlowYardsticks(million, measured)).toEqual(['openSearch, radius: 5.00 ms instead of 3.8 ms']);
    expect(findSlowYardsticks({ ...million, resources: 100_000 }, measured)).toEqual([]);
  });
});
