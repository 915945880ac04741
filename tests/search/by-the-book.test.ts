import { describe, it } from 'vitest';
import { holdAgainstTheBook } from '../support/search/by-the-book.ts';

/** Always the same indexes and questions; the long form (npm run test:long) draws new ones each time. */
const seed = 20_261_115;

describe('discover', () => {
  it('answers what a plain evaluation of every document answers', async () => {
    await holdAgainstTheBook({ indexes: 20, questions: 10, seed });
  });

  it('answers so from an index that came about by changes, while its lists are compacted', async () => {
    await holdAgainstTheBook({ indexes: 6, questions: 15, seed, byChanges: true });
  });
});
