import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endOfDuration, isDate, isDateOrDateTime, isDuration, isTimeOfDay, parseInstant } from './time.ts';

describe('parseInstant', () => {
  it('reads what Date writes', () => {
    const instants = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instants, (instant) => {
        expect(parseInstant(instant.toISOString())).toEqual(instant);
      }),
    );
  });

  it.each([
    ['2026-03-01T12:00:00z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01t12:00:00Z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T12:00:00+05:30', '2026-03-01T06:30:00.000Z'],
    ['2026-03-01T12:00:00+0530', '2026-03-01T06:30:00.000Z'],
    ['2026-03-01T12:00:00.57Z', '2026-03-01T12:00:00.570Z'],
    ['2026-03-01T12:00:00.123456789Z', '2026-03-01T12:00:00.123Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ])('reads %s', (text, instant) => {
    expect(parseInstant(text)?.toISOString()).toBe(instant);
  });

  it.each([
    '2026-03-01',
    '2026-03-01T12:00:00',
    '2026-03-01 12:00:00Z',
    '2026-02-29T12:00:00Z',
    '2026-13-01T12:00:00Z',
    '2026-03-01T24:00:00Z',
    '2026-03-01T12:60:00Z',
    '2026-03-01T12:00:00+24:00',
    '2026-03-01T12:00:00+05',
    '20260301T120000Z',
    '',
  ])('refuses %s', (text) => {
    expect(parseInstant(text)).toBeUndefined();
  });
});

describe('dates and times of day', () => {
  it('knows the days of the calendar', () => {
    expect(['2026-02-28', '2024-02-29', '2000-02-29'].every(isDate)).toBe(true);
    expect(['2026-02-29', '1900-02-29', '2026-04-31', '2026-00-01', '2026-1-1'].some(isDate)).toBe(false);
  });

  it('takes a day or an instant as a bound', () => {
    expect(isDateOrDateTime('2026-02-28')).toBe(true);
    expect(isDateOrDateTime('2026-02-28T00:00:00Z')).toBe(true);
    expect(isDateOrDateTime('February')).toBe(false);
  });

  it('takes a time of day with or without seconds and offset', () => {
    expect(
      ['08:30', '22:00:00', '22:00:00Z', '06:00:00+05:30', '06:00+0530', '00:00:00.5Z'].every(isTimeOfDay),
    ).toBe(true);
    expect(['24:00', '8:30', '08:60', '08:30 Z', '2026-01-01T08:30:00Z'].some(isTimeOfDay)).toBe(false);
  });
});

describe('durations', () => {
  const start = new Date('2026-01-31T00:00:00Z');

  it.each([
    ['PT30S', '2026-01-31T00:00:30.000Z'],
    ['PT0S', '2026-01-31T00:00:00.000Z'],
    ['PT0.5S', '2026-01-31T00:00:00.500Z'],
    ['PT1H2M3S', '2026-01-31T01:02:03.000Z'],
    ['P1D', '2026-02-01T00:00:00.000Z'],
    ['P2W', '2026-02-14T00:00:00.000Z'],
    ['P1M', '2026-02-28T00:00:00.000Z'],
    ['P1M1D', '2026-03-01T00:00:00.000Z'],
    ['P1Y', '2027-01-31T00:00:00.000Z'],
    ['P13M', '2027-02-28T00:00:00.000Z'],
    ['P2Y1MT12H', '2028-02-29T12:00:00.000Z'],
  ])('%s after the last of January ends at %s', (text, end) => {
    expect(new Date(endOfDuration(start, text)).toISOString()).toBe(end);
  });

  it('never ends when it leaves the range of dates', () => {
    expect(endOfDuration(start, 'P99999999Y')).toBe(Number.POSITIVE_INFINITY);
    expect(endOfDuration(start, `PT${'9'.repeat(400)}S`)).toBe(Number.POSITIVE_INFINITY);
  });

  it('refuses what ISO 8601 does not write so', () => {
    expect(['P', 'PT', 'P1DT', '30S', 'PT30', 'P1S', 'P1W2D', '-PT1S', 'pt30s', ''].some(isDuration)).toBe(
      false,
    );
  });
});
