import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TimePeriod } from '../protocol/catalog.ts';
import { isValidAt } from './time-period.ts';

function valid(period: TimePeriod, instant: string): boolean {
  return isValidAt(period, new Date(instant));
}

describe('isValidAt', () => {
  it('includes every instant when there is no period, or an empty one', () => {
    expect(isValidAt(undefined, new Date())).toBe(true);
    expect(valid({}, '1970-01-01T00:00:00Z')).toBe(true);
  });

  it.each([
    ['2026-01-31', '2026-01-30T23:59:59.999Z', false],
    ['2026-01-31', '2026-01-31T00:00:00.000Z', true],
    ['2026-01-31T12:00:00Z', '2026-01-31T11:59:59.999Z', false],
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z', true],
    ['2026-01-31T12:00:00+05:30', '2026-01-31T06:30:00.000Z', true],
    ['2026-01-31T12:00:00+05:30', '2026-01-31T06:29:59.999Z', false],
  ])('startDate %s: %s is %s', (startDate, instant, expected) => {
    expect(valid({ startDate }, instant)).toBe(expected);
  });

  it.each([
    ['2026-01-31', '2026-01-31T23:59:59.999Z', true],
    ['2026-01-31', '2026-02-01T00:00:00.000Z', false],
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z', true],
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.001Z', false],
    ['2026-01-31T12:00:00-08:00', '2026-01-31T20:00:00.000Z', true],
  ])('endDate %s: %s is %s', (endDate, instant, expected) => {
    expect(valid({ endDate }, instant)).toBe(expected);
  });

  it('includes one whole UTC day when it starts and ends on the same date', () => {
    const day = { startDate: '2026-01-31', endDate: '2026-01-31' };
    expect(valid(day, '2026-01-31T00:00:00Z')).toBe(true);
    expect(valid(day, '2026-01-31T23:59:59.999Z')).toBe(true);
    expect(valid(day, '2026-02-01T00:00:00Z')).toBe(false);
  });

  it('includes nothing when it ends before it starts', () => {
    expect(valid({ startDate: '2026-02-01', endDate: '2026-01-31' }, '2026-01-31T12:00:00Z')).toBe(false);
  });

  it.each([
    ['06:00:00Z', '22:00:00Z', '2026-01-31T06:00:00Z', true],
    ['06:00:00Z', '22:00:00Z', '2026-01-31T22:00:00Z', true],
    ['06:00:00Z', '22:00:00Z', '2026-01-31T22:00:00.001Z', false],
    ['06:00:00Z', '22:00:00Z', '2026-01-31T05:59:59.999Z', false],
    ['06:00', '22:00', '2026-01-31T12:00:00Z', true],
    ['22:00', '06:00', '2026-01-31T23:00:00Z', true],
    ['22:00', '06:00', '2026-01-31T06:00:00Z', true],
    ['22:00', '06:00', '2026-01-31T12:00:00Z', false],
    ['09:00+05:30', '21:00+05:30', '2026-01-31T03:30:00Z', true],
    ['09:00+05:30', '21:00+05:30', '2026-01-31T15:30:00Z', true],
    ['09:00+05:30', '21:00+05:30', '2026-01-31T15:31:00Z', false],
    ['01:00+05:30', '05:00+05:30', '2026-01-31T19:30:00Z', true],
    ['01:00+05:30', '05:00+05:30', '2026-01-31T01:00:00Z', false],
    ['20:00-0800', '23:00-0800', '2026-01-31T05:00:00Z', true],
    ['08:00', '08:00', '2026-01-31T20:00:00Z', true],
    ['08:00:00.5', '09:00', '2026-01-31T08:00:00.499Z', false],
    ['08:00:00.5', '09:00', '2026-01-31T08:00:00.500Z', true],
  ])('window %s to %s: %s is %s', (startTime, endTime, instant, expected) => {
    expect(valid({ startTime, endTime }, instant)).toBe(expected);
  });

  it('leaves a missing end of the window open until midnight, where the other end is', () => {
    expect(valid({ startTime: '18:00' }, '2026-01-31T23:59:59.999Z')).toBe(true);
    expect(valid({ startTime: '18:00' }, '2026-01-31T00:00:00Z')).toBe(false);
    expect(valid({ endTime: '06:00' }, '2026-01-31T00:00:00Z')).toBe(true);
    expect(valid({ endTime: '06:00' }, '2026-01-31T06:00:00.001Z')).toBe(false);
    expect(valid({ startTime: '18:00+05:30' }, '2026-01-31T18:29:59.999Z')).toBe(true);
    expect(valid({ startTime: '18:00+05:30' }, '2026-01-31T18:30:00Z')).toBe(false);
    expect(valid({ startTime: '00:00' }, '2026-01-31T12:00:00Z')).toBe(true);
  });

  it('needs both the dates and the window', () => {
    const evenings = { startDate: '2026-01-01', endDate: '2026-01-31', startTime: '18:00', endTime: '20:00' };
    expect(valid(evenings, '2026-01-15T19:00:00Z')).toBe(true);
    expect(valid(evenings, '2026-01-15T12:00:00Z')).toBe(false);
    expect(valid(evenings, '2026-02-15T19:00:00Z')).toBe(false);
  });

  it('includes nothing when a bound cannot be read', () => {
    for (const period of [
      { startDate: 'soon' },
      { endDate: '2026-02-30' },
      { startTime: '25:00' },
      { endTime: 'noon' },
    ]) {
      expect(valid(period, '2026-01-31T12:00:00Z')).toBe(false);
    }
  });

  it('a window includes an instant exactly when the opposite window does not, apart from the shared bounds', () => {
    const minute = fc.integer({ min: 0, max: 24 * 60 - 1 });
    fc.assert(
      fc.property(minute, minute, fc.integer({ min: 0, max: 86_399_999 }), (from, to, time) => {
        fc.pre(from !== to && time % 60_000 !== 0);
        const [startTime, endTime] = [clock(from), clock(to)];
        const instant = new Date(Date.UTC(2026, 0, 31) + time);
        expect(isValidAt({ startTime, endTime }, instant)).toBe(
          !isValidAt({ startTime: endTime, endTime: startTime }, instant),
        );
      }),
    );
  });
});

function clock(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}
