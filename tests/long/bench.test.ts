import { expect, it } from 'vitest';
import { benchInMiniature, longScenarios, scenarios } from '../support/bench.ts';

it('knows which scenarios of npm run bench take longest', () => {
  expect(scenarios).toEqual(expect.arrayContaining([...longScenarios]));
});

it.each(longScenarios)('npm run bench -- %s comes to its end in miniature', async (scenario) => {
  // tests/opensearch/bench.test.ts has the rest of it.
  await benchInMiniature(scenario === 'opensearch' ? [scenario, '--without-opensearch'] : [scenario]);
});
