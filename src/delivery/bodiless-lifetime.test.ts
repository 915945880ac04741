import { expect, it } from 'vitest';
import { createBodilessLifetime } from './bodiless-lifetime.ts';

const now = new Date('2026-01-01T00:00:00.400Z');

it('a GET is signed for a minute', () => {
  const lifetime = createBodilessLifetime();
  expect([1, 2].map(() => lifetime('GET', now))).toEqual([60, 60]);
});

it('a DELETE is signed for about a minute, and never as another one, or a GET, of the same second', () => {
  const lifetime = createBodilessLifetime();
  const seconds = Array.from({ length: 200 }, () => lifetime('DELETE', now) ?? 0);
  expect(new Set(seconds).size).toBe(200);
  expect(seconds).not.toContain(60);
  expect(Math.min(...seconds)).toBeGreaterThanOrEqual(30);
  expect(seconds[0]).toBeLessThan(60);
});

it('a DELETE is not signed as an earlier one when the clock was set back', () => {
  const lifetime = createBodilessLifetime(() => 0);
  const later = new Date(now.getTime() + 1000);
  expect([now, later, now].map((at) => lifetime('DELETE', at))).toEqual([30, 30, 31]);
});
