import { describe, expect, it } from 'vitest';
import { createRowMapper } from './map-row.ts';
import { parseMapping } from './mapping.ts';
import type { Row } from './row-reader.ts';

const mapping = {
  operator: { id: 'op:{operator|slug}', name: '{operator}' },
  station: {
    id: '{id}',
    name: '{name}',
    latitude: '{lat}',
    longitude: '{lon}',
    city: '{city}',
    isActive: { from: '{status}', values: { Open: true, Closed: false } },
  },
  connectors: { json: 'connectors' },
  charger: {
    name: '{connector.type} at {name}',
    'attributes.connectorType': { from: '{connector.type}', values: { 'Typ 2': 'Type2', Combo: 'CCS2' } },
    'attributes.ratedPower': { from: '{connector.kW}', unit: 'kW' },
    'attributes.aggregator.name': '{operator}',
  },
};

const cells = {
  id: 'S1',
  name: 'Zoo',
  operator: 'Voltpath Ltd',
  lat: '51.5',
  lon: '-0.1',
  city: 'London',
  status: 'Open',
  connectors: '[{"type":"typ  2","kW":22},{"type":"Combo","kW":50}]',
};

function map(change: Record<string, string> = {}, changes: object = {}) {
  return mapAll([{ ...cells, ...change }], changes)[0] ?? { problems: [] };
}

function mapAll(rows: Record<string, string>[], changes: object = {}, more: Partial<Row> = {}) {
  const mapRow = createRowMapper(parseMapping({ ...mapping, ...changes }));
  return rows.map((row, index) =>
    mapRow({ at: `row ${index + 2}`, cells: new Map(Object.entries(row)), ...more }),
  );
}

describe('a row', () => {
  it('becomes a station with a charger for each connector', () => {
    const { station, problems } = map();
    expect(problems).toEqual([]);
    expect(station).toMatchObject({
      at: 'row 2',
      id: 'S1',
      name: 'Zoo',
      operator: { id: 'op:voltpath-ltd', name: 'Voltpath Ltd' },
      isActive: true,
      geo: { type: 'Point', coordinates: [-0.1, 51.5] },
      address: { addressLocality: 'London' },
    });
    expect(station?.chargers).toMatchObject([
      {
        id: 'S1-1',
        name: 'typ  2 at Zoo',
        type: 'EV_CHARGER',
        attributes: {
          connectorType: 'Type2',
          ratedPower: { value: 22, unit: 'kW' },
          aggregator: { name: 'Voltpath Ltd' },
        },
      },
      { id: 'S1-2', attributes: { connectorType: 'CCS2', ratedPower: { value: 50, unit: 'kW' } } },
    ]);
  });

  it.each([
    [
      'a value that the mapping does not know',
      { connectors: '[{"type":"Wooden"}]' },
      'connector.type',
      'Wooden',
      'is not a value of charger.attributes.connectorType',
    ],
    [
      'a power that is none',
      { connectors: '[{"type":"Combo","kW":"fast"}]' },
      'connector.kW',
      'fast',
      'is not a power',
    ],
    [
      'a status that the mapping does not know',
      { status: 'Maybe' },
      'status',
      'Maybe',
      'is not a value of station.isActive',
    ],
    ['a latitude that is not a number', { lat: '51,5' }, 'lat', '51,5', 'is not a number'],
  ])('is kept without %s, which is reported', (_, change, column, value, why) => {
    const { station, problems } = map(change);
    expect(station?.chargers.length).toBeGreaterThan(0);
    expect(problems).toContainEqual({ at: 'row 2', column, value, why, kind: 'value' });
  });

  it('is kept without a position on earth, and reported', () => {
    const { station, problems } = map({ lat: '91' });
    expect(station).toMatchObject({ id: 'S1', geo: undefined });
    expect(problems).toMatchObject([{ value: '91, -0.1', kind: 'value' }]);
  });

  it.each(['id', 'operator'])('without %s is left out, and reported', (column) => {
    const { station, problems } = map({ [column]: '' });
    expect(station).toBeUndefined();
    expect(problems).toContainEqual(expect.objectContaining({ at: 'row 2', column, kind: 'left-out' }));
  });

  it('that names no connector is one charger of unknown kind, and that is told', () => {
    const { station, problems } = map({ connectors: '[]' });
    expect(station?.chargers).toMatchObject([{ id: 'S1-1', attributes: {} }]);
    expect(problems).toMatchObject([{ kind: 'note', why: expect.stringContaining('names no connector') }]);
  });

  it('that is not what the mapping expects is passed over, and that is told', () => {
    const { station, problems } = map({ fuel: 'LPG' }, { only: { fuel: ['ELEC', 'HY'] } });
    expect(station).toBeUndefined();
    expect(problems).toMatchObject([{ column: 'fuel', value: 'LPG', kind: 'note' }]);
    expect(map({ fuel: 'elec' }, { only: { fuel: 'ELEC' } }).station).toBeDefined();
  });

  it('has the geometry of its feature, where the file has geometries', () => {
    const area = {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 0],
        ],
      ],
    };
    expect(mapAll([cells], {}, { geometry: area })[0]?.station?.geo).toEqual(area);
    const [bad] = mapAll([cells], {}, { geometry: { type: 'Point', coordinates: [200, 0] } });
    expect(bad?.station?.geo).toBeUndefined();
    expect(bad?.problems).toMatchObject([{ column: 'geometry.coordinates.0', kind: 'value' }]);
    expect(mapAll([cells], {}, { geometry: null })[0]?.problems).toHaveLength(1);
  });
});

describe('rows', () => {
  it('of one station number its connectors through', () => {
    const one = { ...cells, connectors: '[{"type":"Combo"}]' };
    const ids = mapAll([one, { ...one, id: 'S2' }, one]).flatMap(({ station }) =>
      station?.chargers.map(({ id }) => id),
    );
    expect(ids).toEqual(['S1-1', 'S2-1', 'S1-2']);
  });

  it('may name their chargers themselves; a charger without a name is left out, and reported', () => {
    const charger = { id: '{connector.evse}' };
    const connectors = '[{"evse":"GB*VLT*E1"},{"evse":""}]';
    const { station, problems } = map({ connectors }, { charger });
    expect(station?.chargers.map(({ id }) => id)).toEqual(['GB*VLT*E1']);
    expect(problems).toMatchObject([{ column: 'connector.evse', kind: 'left-out' }]);
  });

  it('have nothing where the mapping says that a text means nothing', () => {
    const { station, problems } = map({ city: 'n/a', status: '-' }, { file: { nothing: ['n/a', '-'] } });
    expect(station).toMatchObject({ address: undefined, isActive: undefined });
    expect(problems).toEqual([]);
  });

  it('have no connector where its columns say nothing', () => {
    const connectors = { columns: { type: 'Plug {n}' } };
    const plugs = { 'Plug 1': 'Combo', 'Plug 2': '-', 'Plug 3': 'Typ 2' };
    const { station } = map(plugs, { connectors, file: { nothing: ['-'] } });
    expect(station?.chargers.map(({ attributes }) => attributes.connectorType)).toEqual(['CCS2', 'Type2']);
  });
});
