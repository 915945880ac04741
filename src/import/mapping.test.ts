import { describe, expect, it } from 'vitest';
import { parseMapping } from './mapping.ts';

const sound = {
  operator: { id: '{operator|slug}', name: '{operator}' },
  station: { id: '{id}', latitude: '{lat}' },
};

describe('a mapping', () => {
  it('knows which columns it names, and that coordinates are numbers', () => {
    const mapping = parseMapping({ ...sound, only: { fuel: 'ELEC' }, charger: { name: ['{a}[ {b}]', 'c'] } });
    expect([...mapping.columns].sort()).toEqual(['a', 'b', 'fuel', 'id', 'lat', 'operator']);
    expect(mapping.station.latitude).toMatchObject({ as: 'number' });
  });

  it.each([
    ['nothing', {}, /operator is missing[\s\S]*station is missing/],
    ['an unknown member', { ...sound, columns: {} }, /columns is not allowed here/],
    ['an unknown member of a station', { ...sound, station: { id: 'a', town: 'b' } }, /town is not allowed/],
    [
      'an attribute at the wrong place',
      { ...sound, charger: { connectorType: 'x' } },
      /connectorType is not allowed/,
    ],
    ['a field without text', { ...sound, station: { id: {} } }, /station\.id\.from is missing/],
    [
      'a number as a field',
      { ...sound, station: { id: 3 } },
      /station\.id must be a string or an array or an object/,
    ],
    [
      'a unit that is none',
      { ...sound, charger: { 'attributes.ratedPower': { from: 'a', unit: 'hp' } } },
      /W, kW, MW/,
    ],
    [
      'a date format without a year',
      { ...sound, charger: { 'attributes.x': { from: 'a', as: 'date-time', format: 'DD.MM' } } },
      /format/,
    ],
    [
      'otherwise without values',
      { ...sound, station: { id: { from: 'a', otherwise: 'b' } } },
      /values is missing/,
    ],
    ['a bad template', { ...sound, station: { id: '{id' } }, /\$\.station\.id: "\{id" has a brace/],
    [
      'two ways to connectors',
      { ...sound, connectors: { json: 'a', columns: { type: 'b' } } },
      /one of json, columns and counted/,
    ],
    ['no way to connectors', { ...sound, connectors: {} }, /one of json, columns and counted/],
  ])('with %s is refused with its place', (_, mapping, message) => {
    expect(() => parseMapping(mapping)).toThrow(message);
  });
});
