import { it } from 'vitest';
import { searchWhileWriting } from '../support/search/steady-ingest.ts';

it('two processes answer what a plain evaluation answers, while several writers change catalogs without a pause', async () => {
  await searchWhileWriting({ writers: 4, commits: 20, questions: 3, seed: 20_261_116 });
});
