import { describe, it } from 'vitest';
import { benchInMiniature } from '../support/bench.ts';
import { needs, obstacle } from '../support/opensearch.ts';

describe.skipIf(obstacle)(`npm run bench -- opensearch${needs}`, () => {
  it('runs to its end in miniature', async () => {
    await benchInMiniature(['opensearch']);
  });
});
