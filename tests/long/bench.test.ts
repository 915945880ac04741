import { expect, it } from 'vitest';
import { benchInMiniature, longScenarios, scenarios } from '../support/bench.ts';

it('knows which scenarios of npm run bench take longest', () => {
  expect(scenarios).toEqual(expect.arrayContaining([...longScenarios]));
});

it.each(longScenarios)('npm run bench -- %s comes to its end in miniature', async (scenario) => {
  await benchInMiniature([scenario]);
});
