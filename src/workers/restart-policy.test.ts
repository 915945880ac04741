import { describe, expect, it } from 'vitest';
import { countEnds, describeEnd, restartDelayMs } from './slot.ts';

describe('a worker that ends', () => {
  it('is started again soon, and later each time, up to half a minute', () => {
    const delays = [1, 2, 3, 4, 8, 9, 1_000].map(restartDelayMs);
    expect(delays).toEqual([200, 400, 800, 1_600, 25_600, 30_000, 30_000]);
  });

  it('has its ends counted as long as each comes soon after a start', () => {
    expect(countEnds({ livedMs: 100, before: 4 })).toBe(5);
    expect(countEnds({ livedMs: 60_000, before: 4 })).toBe(1);
  });

  it('is told, with what to do about it once that is no accident', () => {
    expect(describeEnd(2, 'SIGKILL', 1)).toBe(
      'Worker 2 ended (SIGKILL). It is started again in 0.2 s; the other workers keep running.',
    );
    expect(describeEnd(2, 'SIGKILL', 4)).toMatch(/ended 4 times in a row: look for .* set fewer WORKERS/);
  });
});
