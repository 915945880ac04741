import { describe, expect, it } from 'vitest';
import { parseRange } from './conditional.ts';

describe('a Range header', () => {
  it.each([
    ['bytes=0-9', { start: 0, end: 9 }],
    ['bytes=90-', { start: 90, end: 99 }],
    ['bytes=90-1000', { start: 90, end: 99 }],
    ['bytes=-10', { start: 90, end: 99 }],
    ['bytes=-1000', { start: 0, end: 99 }],
    ['BYTES = 5-5', { start: 5, end: 5 }],
  ])('%s asks for a part', (header, range) => {
    expect(parseRange(header, 100)).toEqual(range);
  });

  it.each(['bytes=100-', 'bytes=100-200', 'bytes=-0'])('%s asks for what is not there', (header) => {
    expect(parseRange(header, 100)).toBe('unsatisfiable');
  });

  it.each([undefined, '', 'bytes=', 'bytes=-', 'bytes=0-1,3-4', 'items=0-1', 'bytes=9-1', 'bytes=a-b'])(
    '%s is ignored',
    (header) => {
      expect(parseRange(header, 100)).toBeUndefined();
    },
  );
});
