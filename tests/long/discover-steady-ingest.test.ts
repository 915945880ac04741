import { it } from 'vitest';
import { searchWhileWriting } from '../support/search/steady-ingest.ts';

it('two processes answer what a plain evaluation answers, while several writers change catalogs for minutes', async () => {
  await searchWhileWriting({ writers: 6, commits: 300, questions: 5, seed: Date.now() % 1_000_000 });
}, 3_600_000);
