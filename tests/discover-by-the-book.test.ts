import { describe, it } from 'vitest';
import { holdAgainstTheBook } from './support/by-the-book.ts';

describe('discover', () => {
  it('answers what a plain evaluation of every document answers', async () => {
    await holdAgainstTheBook({ indexes: 20, questions: 10 });
  }, 120_000);
});
