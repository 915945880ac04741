import { describe, it } from 'vitest';
import { holdAgainstTheBook } from '../support/search/by-the-book.ts';

describe('discover', () => {
  it('answers what a plain evaluation of every document answers, thousands of times', async () => {
    await holdAgainstTheBook({ indexes: 500, questions: 20 });
  }, 3_600_000);

  it('answers so from indexes that came about by changes, while their lists are compacted', async () => {
    await holdAgainstTheBook({ indexes: 200, questions: 20, byChanges: true });
  }, 3_600_000);
});
