import { describe, expect, it } from 'vitest';
import { benchInMiniature, longScenarios, scenarios } from '../support/bench.ts';

// The code that the benchmarks measure changes every day, but they do not run every day: here they run in miniature, on the built files;
// tests/long/bench.test.ts has the longest ones.

describe('npm run bench', () => {
  it.each(scenarios.filter((scenario) => !longScenarios.includes(scenario)))(
    'runs the scenario %s to its end in miniature',
    async (scenario) => void (await benchInMiniature([scenario])),
  );

  it('counts no question as asked for the first time that was asked before', async () => {
    const { createLedger } = await import(new URL('../../bench/search/questions.mjs', import.meta.url).href);
    const { first, again } = createLedger();
    const question = (word: string) => ({ message: { intent: { textSearch: word }, limit: 20 } });
    first(question('charger'));
    again(question('charger'));
    expect(() => first(question('charger'))).toThrow('asked before, so not for the first time');
    expect(() => again(question('parking'))).toThrow('not asked before, so not again');
  });

  it('calls a run invalid in which a yardstick is much slower than it was when it was chosen', async () => {
    const { findSlowYardsticks } = await import(
      new URL('../../bench/search/yardsticks.mjs', import.meta.url).href
    );
    const measured = (engine: string, kind: string) => (engine === 'merged' && kind === 'radius' ? 5 : 0.2);
    const million = { data: 'stations', resources: 1_000_000 };
    expect(findSlowYardsticks(million, measured)).toEqual(['merged, radius: 5.00 ms instead of 3.8 ms']);
    expect(findSlowYardsticks({ ...million, resources: 100_000 }, measured)).toEqual([]);
  });
});
