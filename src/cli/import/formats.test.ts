import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { attributesOf, useImports } from '../../../tests/support/processes/imports.ts';
import { ocpiFields } from '../../import/ocpi-fields.ts';

const { run } = useImports();

describe('signpost import geojson', () => {
  it('takes points and areas with their tags', async () => {
    const area = {
      type: 'Polygon',
      coordinates: [
        [
          [77.1, 28.5],
          [77.2, 28.5],
          [77.2, 28.6],
          [77.1, 28.5],
        ],
      ],
    };
    const features = [
      {
        type: 'Feature',
        id: 'node/1',
        properties: {
          '@id': 'node/1',
          brand: 'Tata Power',
          'socket:type2': '2',
          'socket:type2:output': '22 kW',
        },
        geometry: { type: 'Point', coordinates: [77.2, 28.6] },
      },
      { type: 'Feature', id: 'way/2', properties: { capacity: '4' }, geometry: area },
      { type: 'Nothing' },
    ];
    const document = JSON.stringify({ type: 'FeatureCollection', features });
    const { exitCode, catalogs, notes } = await run(['geojson', 'osm', '-'], document);
    expect(exitCode).toBe(2);
    expect(notes).toContain('feature 3: is not a GeoJSON feature');
    expect(catalogs).toMatchObject([
      { id: 'osm:node/1', provider: { descriptor: { name: 'Tata Power' } } },
      {
        id: 'osm:way/2',
        provider: { descriptor: { name: 'Unknown operator' }, availableAt: [{ geo: area }] },
      },
    ]);
    const type2 = {
      connectorType: 'Type2',
      connectorDescription: 'type2',
      ratedPower: { value: 22, unit: 'kW' },
    };
    expect(catalogs.map(attributesOf)).toEqual([[type2, type2], [{ capacity: 4 }]]);
  });

  it('makes offers of prices, and no offer of a price that it cannot read', async () => {
    const place = { type: 'Point', coordinates: [77.2, 28.6] };
    const feature = (id: string, properties: object) => ({
      ...{ type: 'Feature', id, geometry: place },
      properties: { id, operator: 'Voltpath', ...properties },
    });
    const prices = { pricePerKwh: 0.49, pricePerMinute: 0.08, pricePerSession: 1, currency: 'EUR' };
    const dates = { priceValidFrom: '2026-01-01', priceValidUntil: '2026-12-31' };
    const features = [
      feature('a', { ...prices, ...dates }),
      feature('b', { pricePerKwh: 'much', currency: 'EUR' }),
    ];
    const { exitCode, catalogs, notes } = await run(
      ['geojson', 'stations', '-', '--keep-doubtful'],
      JSON.stringify({ type: 'FeatureCollection', features }),
    );
    expect({ exitCode, offers: catalogs[1]?.offers }).toEqual({ exitCode: 2, offers: undefined });
    expect(notes).toContain('feature 2: pricePerKwh "much" is not a number');
    const [offer] = catalogs[0]?.offers ?? [];
    expect(offer).toMatchObject({
      ...{ id: 'a:tariff:1', resourceIds: catalogs[0]?.resources?.map(({ id }) => id) },
      validity: { startDate: '2026-01-01T00:00:00Z', endDate: '2026-12-31' },
    });
    const told = offer?.considerations?.map(
      ({ considerationAttributes: { value, currency, unit } = {} as never }) =>
        [value, currency, unit].join(' '),
    );
    expect(told).toEqual(['0.49 EUR kWh', '4.8 EUR h', '1 EUR session']);
  });

  it('says so when there is no feature in it', async () => {
    expect((await run(['geojson', 'osm', 'examples/search.json'])).notes).toContain('it has no feature');
  });
});

describe('signpost import ocpi', () => {
  it('turns the example answer of an OCPI endpoint into a catalog', async () => {
    const { exitCode, catalogs, notes } = await run([
      ...['ocpi', 'examples/ocpi-locations.json'],
      ...['--tariffs', 'examples/ocpi-tariffs.json'],
    ]);
    expect(exitCode).toBe(0);
    expect(catalogs).toMatchObject([{ id: 'IN*VLT*HSR', descriptor: { name: 'Voltpath HSR Layout' } }]);
    expect(catalogs.flatMap(attributesOf)).toMatchObject([
      { connectorType: 'CCS2', ratedPower: { value: 60, unit: 'kW' } },
      { connectorType: 'Type2', ratedPower: { value: 22.08, unit: 'kW' } },
    ]);
    expect(catalogs[0]?.offers).toMatchObject([
      {
        id: 'IN*VLT*HSR:tariff:fast',
        resourceIds: ['IN*VLT*HSR-1*1'],
        considerations: [{ id: 'energy' }, { id: 'flat' }],
      },
      { id: 'IN*VLT*HSR:tariff:slow', resourceIds: ['IN*VLT*HSR-1*2'], considerations: [{ id: 'energy' }] },
    ]);
    expect(notes).toContain('1 location: 1 station with 2 chargers and 2 tariffs in 1 catalog');
  });

  it('reports a tariff that is not known as a value that is lost', async () => {
    const { exitCode, catalogs, notes } = await run(['ocpi', 'examples/ocpi-locations.json']);
    expect({ exitCode, offers: catalogs[0]?.offers }).toEqual({ exitCode: 2, offers: undefined });
    expect(notes).toContain('tariff_ids "fast" names an unknown tariff: its price is missing');
  });

  it('says what is wrong with a file that holds none', async () => {
    const failed = JSON.stringify({ status_code: 2001, status_message: 'Nope' });
    expect(await run(['ocpi', '-'], failed)).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('failed: 2001 Nope'),
    });
    expect((await run(['ocpi', '-'], '[')).notes).toContain('is not accepted as JSON');
  });
});

it('docs/charging.md has the table of OCPI fields', () => {
  const guide = readFileSync('docs/charging.md', 'utf8');
  for (const [field, destination] of ocpiFields.destinations)
    expect(guide).toContain(`| ${field} | ${destination} |`);
});
