import { describe, expect, it } from 'vitest';
import { fairLevel } from './backlog.ts';

describe('the level that shares shrink to', () => {
  it.each([
    [[], 10, Number.POSITIVE_INFINITY],
    [[4, 6], 10, Number.POSITIVE_INFINITY],
    [[1_000], 10, 10],
    [[1, 4, 4], 8, 3],
    [[2, 1_000, 3], 100, 95],
    [Array.from({ length: 50 }, () => 7), 10, 1],
  ])('with %j waiting and room for %d is %d', (open, limit, level) => {
    expect(fairLevel(open, limit)).toBe(level);
  });
});
