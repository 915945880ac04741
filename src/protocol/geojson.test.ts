import { describe, expect, it } from 'vitest';
import { Geometry } from './geojson.ts';
import { validator } from './validate.ts';

const ring = [
  [0, 0],
  [10, 0],
  [10, 10],
  [0, 0],
];
const parseGeometry = validator(Geometry);

describe('a geometry', () => {
  it.each([
    { type: 'Point', coordinates: [77.6, 12.9] },
    { type: 'Point', coordinates: [-180, 90, 120.5] },
    { type: 'MultiPoint', coordinates: [[0, 0]] },
    {
      type: 'LineString',
      coordinates: [
        [0, 0],
        [1, 1],
      ],
    },
    {
      type: 'MultiLineString',
      coordinates: [
        [
          [0, 0],
          [1, 1],
        ],
      ],
    },
    { type: 'Polygon', coordinates: [ring, ring] },
    { type: 'MultiPolygon', coordinates: [[ring], [ring]] },
    { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [0, 0] }] },
    {
      type: 'GeometryCollection',
      geometries: [{ type: 'GeometryCollection', geometries: [{ type: 'Polygon', coordinates: [ring] }] }],
    },
    { type: 'Point', coordinates: [0, 0], bbox: [0, 0, 0, 0] },
  ])('may be a $type', (geometry) => {
    expect(parseGeometry(geometry)).toBe(geometry);
  });

  it.each([
    ['no type', {}, 'SCH_REQUIRED_FIELD_MISSING', '$.geo.type'],
    ['a feature', { type: 'Feature' }, 'SCH_INVALID_ENUM', '$.geo.type'],
    ['no coordinates', { type: 'Point' }, 'SCH_REQUIRED_FIELD_MISSING', '$.geo.coordinates'],
    ['no members', { type: 'GeometryCollection' }, 'SCH_REQUIRED_FIELD_MISSING', '$.geo.geometries'],
    [
      'null coordinates',
      { type: 'Point', coordinates: null },
      'SCH_SCHEMA_VALIDATION_FAILED',
      '$.geo.coordinates',
    ],
    ['one number', { type: 'Point', coordinates: [1] }, 'SCH_SCHEMA_VALIDATION_FAILED', '$.geo.coordinates'],
    [
      'a text',
      { type: 'Point', coordinates: ['1', 2] },
      'SCH_SCHEMA_VALIDATION_FAILED',
      '$.geo.coordinates[0]',
    ],
    [
      'a far longitude',
      { type: 'Point', coordinates: [181, 0] },
      'SCH_SCHEMA_VALIDATION_FAILED',
      '$.geo.coordinates[0]',
    ],
    [
      'a far latitude',
      { type: 'Point', coordinates: [0, -91] },
      'SCH_SCHEMA_VALIDATION_FAILED',
      '$.geo.coordinates[1]',
    ],
    [
      'a lone position',
      { type: 'LineString', coordinates: [[0, 0]] },
      'SCH_SCHEMA_VALIDATION_FAILED',
      '$.geo.coordinates',
    ],
    [
      'an open ring',
      {
        type: 'Polygon',
        coordinates: [
          ring,
          [
            [0, 0],
            [1, 0],
            [1, 1],
            [2, 2],
          ],
        ],
      },
      'SCH_SCHEMA_VALIDATION_FAILED',
      '$.geo.coordinates[1]',
    ],
    [
      'a short ring',
      {
        type: 'MultiPolygon',
        coordinates: [
          [
            [
              [0, 0],
              [1, 0],
              [0, 0],
            ],
          ],
        ],
      },
      'SCH_SCHEMA_VALIDATION_FAILED',
      '$.geo.coordinates[0][0]',
    ],
    [
      'an empty list',
      { type: 'MultiPoint', coordinates: [] },
      'SCH_SCHEMA_VALIDATION_FAILED',
      '$.geo.coordinates',
    ],
    [
      'a bad member',
      {
        type: 'GeometryCollection',
        geometries: [{ type: 'Point', coordinates: [0, 0] }, { type: 'Circle' }],
      },
      'SCH_INVALID_ENUM',
      '$.geo.geometries[1].type',
    ],
    [
      'a member that is none',
      { type: 'GeometryCollection', geometries: [7] },
      'SCH_SCHEMA_VALIDATION_FAILED',
      '$.geo.geometries[0]',
    ],
  ])('with %s is one fault at its place', (_what, geometry, code, path) => {
    expect(() => parseGeometry(geometry, ['geo'])).toThrow(expect.objectContaining({ code, path }));
  });
});
