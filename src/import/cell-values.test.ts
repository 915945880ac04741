import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDateTime, readNumber, readPower } from './cell-values.ts';

describe('a number in a cell', () => {
  it.each([
    ['7.4', 7.4],
    ['-0.12', -0.12],
    ['+3', 3],
    ['.5', 0.5],
    ['1,250.5', 1250.5],
    ['12,500', 12500],
  ])('%s is %d', (text, number) => expect(readNumber(text)).toBe(number));

  it.each([
    ['7,4', 7.4],
    ['49,494409', 49.494409],
    ['1.250,5', 1250.5],
    ['7.4', 7.4],
    ['22', 22],
  ])('with a decimal comma %s is %d', (text, number) => expect(readNumber(text, true)).toBe(number));

  it.each(['', 'n/a', '7,4', '1,2,3', '1.2.3', '1e3', '0x10', '22 kW', 'Infinity'])(
    '"%s" is none',
    (text) => {
      expect(readNumber(text)).toBeUndefined();
    },
  );

  it('is read as it was written, with a point or a comma', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), (number) => {
        const text = number.toFixed(6);
        expect(readNumber(text)).toBe(Number(text));
        expect(readNumber(text.replace('.', ','), true)).toBe(Number(text));
      }),
    );
  });
});

describe('a power in a cell', () => {
  it('is in the unit of its column, unless it names its own, and always told in kW', () => {
    expect(readPower('22', 'kW')).toEqual({ value: 22, unit: 'kW' });
    expect(readPower('3700', 'W')).toEqual({ value: 3.7, unit: 'kW' });
    expect(readPower('3700W', 'kW')).toEqual({ value: 3.7, unit: 'kW' });
    expect(readPower('1,2 MW', 'kW', true)).toEqual({ value: 1200, unit: 'kW' });
  });

  it('is none when it is negative, or no number', () => {
    expect(readPower('-3', 'kW')).toBeUndefined();
    expect(readPower('fast', 'kW')).toBeUndefined();
  });
});

describe('a date in a cell', () => {
  it.each([
    ['2014-08-19', undefined, '2014-08-19T00:00:00Z'],
    ['2014-08-19T10:30:00+02:00', undefined, '2014-08-19T08:30:00Z'],
    ['2014-08-19 10:30', undefined, '2014-08-19T10:30:00Z'],
    ['14.4.2010', 'DD.MM.YYYY', '2010-04-14T00:00:00Z'],
    ['04/14/2010', 'MM/DD/YYYY', '2010-04-14T00:00:00Z'],
  ])('%s is read', (text, format, instant) => expect(readDateTime(text, format)).toBe(instant));

  it.each([
    ['0000-00-00', undefined],
    ['2023-02-29', undefined],
    ['2023-02-29T00:00:00Z', undefined],
    ['14/04/2010', 'MM/DD/YYYY'],
    ['soon', undefined],
  ])('%s is none', (text, format) => expect(readDateTime(text, format)).toBeUndefined());
});
