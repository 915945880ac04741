import { describe, expect, it } from 'vitest';
import type { MinuteNumber } from '../../storage/console/minutes.ts';
import { seriesNames } from '../answers/health.ts';
import { buildSeries } from './series.ts';

const start = new Date('2026-01-01T12:00:00Z');
const minutesOn = (minutes: number) => new Date(start.getTime() + minutes * 60_000);

function number(name: string, sum: number, { minute = 0, most = sum } = {}): MinuteNumber {
  return { at: minutesOn(minute), name, sum, most };
}

const named = (row: readonly (number | null)[] | undefined) =>
  Object.fromEntries(seriesNames.map((name, index) => [name, row?.[index + 1]]));

describe('the series of numbers', () => {
  it('has a row for each minute, in order, with null where a number is not known', () => {
    const rows = buildSeries([number('pushRate', 5, { minute: 1 }), number('publishRate', 3)], minutesOn(9));
    expect(rows.map(([at]) => at)).toEqual([start.getTime() / 1000, start.getTime() / 1000 + 60]);
    expect(named(rows[0])).toMatchObject({ publishRate: 3, pushRate: null, discoverP50Ms: null });
  });

  it('leaves out the minute that is not over, unless there is no other', () => {
    const [first, second] = [number('errors', 1), number('errors', 2, { minute: 1 })];
    expect(buildSeries([first, second], minutesOn(1.5))).toHaveLength(1);
    expect(buildSeries([second], minutesOn(1.5))).toHaveLength(1);
    expect(buildSeries([first, second], minutesOn(2))).toHaveLength(2);
  });

  it('takes the highest delay of the event loop, and the sum of everything else', () => {
    const numbers = [number('eventLoopP99Ms', 30, { most: 20 }), number('rssBytes', 300, { most: 200 })];
    expect(named(buildSeries(numbers, minutesOn(9))[0])).toMatchObject({ eventLoopP99Ms: 20, rssBytes: 300 });
  });

  it('tells percentiles from the buckets of all processes', () => {
    const numbers = [
      number('discover 0.005', 50),
      number('discover 0.01', 49),
      number('discover +Inf', 1),
      number('publish 10', 0),
    ];
    expect(named(buildSeries(numbers, minutesOn(9))[0])).toMatchObject({
      discoverP50Ms: 5,
      discoverP99Ms: 10,
      publishP99Ms: null,
    });
    const slow = [number('discover 10', 0), number('discover +Inf', 4)];
    expect(named(buildSeries(slow, minutesOn(9))[0])).toMatchObject({ discoverP50Ms: 10_000 });
  });
});
