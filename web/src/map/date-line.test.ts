import { describe, expect, it } from 'vitest';
import { splitLines, splitPolygons } from './date-line.ts';

describe('shapes at the date line', () => {
  it('are drawn once at each side of the world', () => {
    const { coordinates } = splitPolygons({
      type: 'MultiPolygon',
      coordinates: [
        [
          [
            [170, 60],
            [-170, 60],
            [-170, 70],
            [170, 60],
          ],
        ],
      ],
    });
    expect(coordinates).toEqual([
      [
        [
          [170, 60],
          [190, 60],
          [190, 70],
          [170, 60],
        ],
      ],
      [
        [
          [-190, 60],
          [-170, 60],
          [-170, 70],
          [-190, 60],
        ],
      ],
    ]);
  });

  it('are closed along the pole that they go around', () => {
    const ring = [
      [-180, -80],
      [-90, -75],
      [0, -70],
      [90, -75],
      [180, -80],
      [-180, -80],
    ];
    const { coordinates } = splitPolygons({ type: 'MultiPolygon', coordinates: [[ring]] });
    expect(coordinates[0]?.[0]?.slice(-3)).toEqual([
      [180, -89],
      [-180, -89],
      [-180, -80],
    ]);
  });

  it('stay as they are elsewhere', () => {
    const line = [
      [10, 50],
      [20, 50],
    ];
    expect(splitLines({ type: 'MultiLineString', coordinates: [line] }).coordinates).toEqual([line]);
  });
});
