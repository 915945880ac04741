import { describe, expect, it } from 'vitest';
import { farMeaning, nearMeaning } from './forms.ts';

const weightOf = (word: string, indexed: string) => farMeaning(word, indexed)?.weight ?? 0;

it('what a word always stands for is itself alone', () => {
  expect(nearMeaning('chargers', 'chargers')).toEqual({ form: 'exact', weight: 1 });
  expect(nearMeaning('chargers', 'changers')).toBeUndefined();
});

describe('what a word stands for that is not indexed', () => {
  it('are misspelt words: one edit before two, and those that begin and end alike first', () => {
    expect(weightOf('battrey', 'battery')).toBeGreaterThan(weightOf('battrey', 'battle'));
    expect(weightOf('battrey', 'cattle')).toBe(0);
    expect(weightOf('camra', 'camera')).toBeGreaterThan(weightOf('camra', 'amra'));
    expect(farMeaning('60kw', '50kw')).toBeUndefined();
  });
});
