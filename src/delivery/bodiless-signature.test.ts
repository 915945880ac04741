import { describe, expect, it } from 'vitest';
import { createSignTimes, describeClockDifference, findServerClock } from './bodiless-signature.ts';

const now = new Date('2026-01-01T00:00:00.400Z');

describe('a request without body', () => {
  it('is signed for 10 s where it is a GET, and for as long as usual where it is none', () => {
    const signTimes = createSignTimes();
    const get = { now, lifetimeSeconds: 10 };
    expect([1, 2].map(() => signTimes('GET', now))).toEqual([get, get]);
    expect(signTimes('POST', now)).toEqual({ now });
  });

  it('is signed for 11 to 60 s where it is a DELETE, and never as another one or as a GET', () => {
    const signTimes = createSignTimes();
    const signed = Array.from({ length: 1_200 }, () => {
      const { now: at, lifetimeSeconds: seconds = 0 } = signTimes('DELETE', now);
      const created = Math.floor(at.getTime() / 1000);
      return { created, seconds, left: created + seconds - Math.floor(now.getTime() / 1000) };
    });
    expect(new Set(signed.slice(0, 1_000).map(({ created, seconds }) => `${created} ${seconds}`)).size).toBe(
      1_000,
    );
    for (const { seconds, left } of signed) {
      expect(seconds).toBeGreaterThanOrEqual(11);
      expect(seconds).toBeLessThanOrEqual(60);
      expect(left).toBeGreaterThanOrEqual(11);
    }
    // The first 50 of a second are signed in it.
    for (const { seconds, left } of signed.slice(0, 50)) expect(left).toBe(seconds);
  });

  it('is not signed as an earlier DELETE when the clock was set back', () => {
    const signTimes = createSignTimes(() => 0);
    const later = new Date(now.getTime() + 1000);
    expect([now, later, now].map((at) => signTimes('DELETE', at).lifetimeSeconds)).toEqual([11, 11, 12]);
  });
});

describe('the clock of a server', () => {
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1000).toUTCString();

  it.each([
    ['answers 401 to a GET, and is 6 s ahead', 'GET', 401, at(7), true],
    ['answers 401 to a DELETE, and is an hour behind', 'DELETE', 401, at(-3_600), true],
    ['is 5 s ahead', 'GET', 401, at(5), false],
    ['answers something else', 'GET', 403, at(60), false],
    ['was sent a body, whose signature lives for minutes', 'POST', 401, at(60), false],
    ['has no Date', 'GET', 401, undefined, false],
    ['has a Date that is none', 'GET', 401, 'yesterday', false],
  ] as const)('counts where it %s: %s %s %s', (_when, method, status, date, counts) => {
    const clock = findServerClock(method, { status, date }, now);
    expect(clock?.toUTCString()).toBe(counts ? date : undefined);
  });

  it('is described in seconds', () => {
    expect(describeClockDifference(new Date(now.getTime() + 7_400), now)).toBe(
      'its clock is 7 s ahead of ours',
    );
    expect(describeClockDifference(new Date(now.getTime() - 60_000), now)).toBe(
      'its clock is 60 s behind ours',
    );
  });
});
