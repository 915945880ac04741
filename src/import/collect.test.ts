import { beforeAll, describe, expect, it } from 'vitest';
import type { Catalog } from '../protocol/catalog.ts';
import { checkCatalog } from '../rules/check-attributes.ts';
import { type AttributeChecker, createAttributeChecker } from '../rules/typed-attributes.ts';
import { bundledSchemas, loadSchemas } from '../schemas/schema-files.ts';
import { createCollector } from './collect.ts';
import type { Charger, PerUnit, Station } from './station.ts';

let checker: AttributeChecker;
beforeAll(async () => {
  checker = createAttributeChecker({ schemas: await loadSchemas(bundledSchemas) });
});

function charger(id: string, attributes: Charger['attributes'] = {}, more: Partial<Charger> = {}): Charger {
  const sources = Object.entries(attributes).map(([name, value]) => {
    return { path: `attributes.${name}`, column: `column of ${name}`, value: String(value) };
  });
  return { at: 'row 2', id, type: 'EV_CHARGER', attributes, sources, ...more };
}

const geo = { type: 'Point' as const, coordinates: [77.6, 12.9] };
const address = { addressLocality: 'Bengaluru' };
function station(id: string, chargers: Charger[], more: Partial<Station> = {}): Station {
  return {
    at: 'row 2',
    id,
    name: 'Zoo',
    operator: { id: 'op', name: 'Voltpath' },
    geo,
    address,
    chargers,
    ...more,
  };
}

function collect(stations: Station[], per: PerUnit = 'station', known: string[] = []) {
  const collector = createCollector({ per, checker, known });
  stations.forEach(collector.add);
  const collected = collector.finish();
  const catalogs = collected.catalogs.map(({ unpack }) => unpack());
  for (const catalog of catalogs) expect(checkCatalog(catalog, checker)).toEqual([]);
  return { ...collected, catalogs };
}

describe('catalogs per station', () => {
  it('have the station as provider, under the name of its operator, at its place', () => {
    const { catalogs } = collect([
      station('S1', [charger('S1-1', { connectorType: 'CCS2' })], { isActive: false }),
    ]);
    expect(catalogs).toEqual([
      {
        id: 'S1',
        descriptor: { name: 'Zoo' },
        provider: { id: 'S1', descriptor: { name: 'Voltpath' }, availableAt: [{ geo, address }] },
        isActive: false,
        resources: [
          {
            id: 'S1-1',
            resourceAttributes: {
              '@context': 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld',
              '@type': 'EnergyResourceEVCharger',
              id: 'S1-1',
              type: 'EV_CHARGER',
              attributes: { connectorType: 'CCS2' },
            },
          },
        ],
      },
    ]);
  });

  it('take the chargers of several rows together, and tell where the rows differ', () => {
    const { catalogs, stationCount, chargerCount, problems } = collect([
      station('S1', [charger('a')]),
      station('S2', [charger('b')]),
      station('S1', [charger('c')], { at: 'row 4', name: 'Zoological Garden' }),
    ]);
    expect(catalogs.map(({ id, resources }) => [id, resources?.map((one) => one.id)])).toEqual([
      ['S1', ['a', 'c']],
      ['S2', ['b']],
    ]);
    expect({ stationCount, chargerCount }).toEqual({ stationCount: 2, chargerCount: 3 });
    expect(problems).toMatchObject([{ at: 'row 4', value: '"Zoological Garden"', kind: 'value' }]);
  });

  it('have all rows of a station, however far they are from each other', () => {
    const tariffs = (id: string) => [
      { id: 't', currency: 'INR', prices: [{ type: 'ENERGY' as const, value: 18 }], chargerIds: [id] },
    ];
    const others = Array.from({ length: 2_500 }, (_, number) =>
      station(`X${number}`, [charger(`X${number}`)]),
    );
    const { catalogs, offerCount } = collect([
      station('S1', [charger('a')], { tariffs: tariffs('a') }),
      ...others,
      station('S1', [charger('b')], { tariffs: tariffs('b') }),
    ]);
    expect(catalogs[0]?.resources?.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(catalogs[0]?.offers).toMatchObject([{ id: 'S1:tariff:t', resourceIds: ['a', 'b'] }]);
    expect(offerCount).toBe(1);
  });
});

describe('catalogs per operator', () => {
  it('have the place at each charger, and the stations of one operator in one', () => {
    const { catalogs } = collect(
      [station('S1', [charger('a')]), station('S2', [charger('b')], { geo: undefined })],
      'operator',
    );
    expect(catalogs).toMatchObject([{ id: 'op', provider: { id: 'op', descriptor: { name: 'Voltpath' } } }]);
    expect(catalogs[0]?.provider.availableAt).toBeUndefined();
    const places = catalogs[0]?.resources?.map(({ resourceAttributes }) => resourceAttributes?.attributes);
    expect(places).toEqual([{ location: { geo, address } }, {}]);
  });

  it('tell what they cannot say: a station out of use, two names of one operator', () => {
    const { problems } = collect(
      [
        station('S1', [charger('a')], { isActive: false }),
        station('S2', [charger('b')], { operator: { id: 'op', name: 'VOLTPATH' } }),
      ],
      'operator',
    );
    expect(problems).toMatchObject([{ kind: 'note' }, { value: 'VOLTPATH', kind: 'value' }]);
  });
});

describe('catalogs per region', () => {
  const id = 'op:karnataka';
  const region = { addressRegion: 'Karnataka' };
  const stationsWith = (count: number) =>
    Array.from({ length: 40 }, (_, number) => {
      const chargers = Array.from({ length: count }, (_, index) => charger(`${number}-${index}`));
      return station(`S${number}`, chargers, { address: region });
    });
  const stationsOf = (catalogs: Catalog[]) =>
    new Map(
      catalogs.flatMap((catalog) =>
        (catalog.resources ?? []).map((one) => [one.id.replace(/-.*/, ''), catalog.id]),
      ),
    );

  it('are several where a region has more than 10,000 chargers', () => {
    const few = collect(stationsWith(250), 'region');
    expect(few.catalogs.map((one) => [one.id, one.descriptor.name])).toEqual([[id, 'Voltpath, Karnataka']]);
    const many = collect(stationsWith(251), 'region');
    expect(many.catalogs.map((one) => [one.id, one.descriptor.name])).toEqual([
      [id, 'Voltpath, Karnataka'],
      [`${id}:2`, 'Voltpath, Karnataka (2)'],
    ]);
    expect(many).toMatchObject({ stationCount: 40, chargerCount: 10_040 });
    expect(stationsOf(many.catalogs).size).toBe(40);
  });

  it('keep their stations while others come and go, and do not become fewer', () => {
    const many = collect(stationsWith(251), 'region').catalogs;
    const known = many.map((one) => one.id);
    const few = collect(stationsWith(1).slice(5).reverse(), 'region', known).catalogs;
    const before = stationsOf(many);
    expect([...stationsOf(few)].filter(([one, catalogId]) => before.get(one) !== catalogId)).toEqual([]);
    expect(few.map((one) => one.id)).toEqual(known);
  });
});

describe('what the EV charger type refuses', () => {
  it('is taken out and reported with its column and value; the charger stays', () => {
    const attributes = { connectorType: 'Wooden', ratedPower: { value: -1, unit: 'kW' }, make: 'Voltpath' };
    const { catalogs, problems } = collect([station('S1', [charger('a', attributes)])]);
    expect(catalogs[0]?.resources?.[0]?.resourceAttributes?.attributes).toEqual({ make: 'Voltpath' });
    expect(problems).toMatchObject([
      { at: 'row 2', column: 'column of ratedPower', kind: 'value' },
      { at: 'row 2', column: 'column of connectorType', value: 'Wooden', kind: 'value' },
    ]);
  });

  it('leaves the charger out, reported, when it is nothing without it', () => {
    const wrong = charger(
      'a',
      {},
      {
        type: 'TOASTER',
        sources: [{ path: 'type', column: 'kind', value: 'Toaster' }],
      },
    );
    const { catalogs, chargerCount, problems } = collect([station('S1', [wrong, charger('b')])]);
    expect(catalogs[0]?.resources?.map(({ id }) => id)).toEqual(['b']);
    expect(chargerCount).toBe(1);
    expect(problems).toMatchObject([{ column: 'kind', value: 'Toaster', kind: 'left-out' }]);
  });

  it('goes for offers too: one with an id that is too long is left out, reported', () => {
    const tariff = { currency: 'INR', prices: [{ type: 'ENERGY' as const, value: 18 }], chargerIds: ['a'] };
    const { catalogs, problems } = collect([
      station('S1', [charger('a')], {
        tariffs: [
          { ...tariff, id: 'x'.repeat(512) },
          { ...tariff, id: 't' },
        ],
      }),
    ]);
    expect(catalogs[0]?.offers?.map(({ id }) => id)).toEqual(['S1:tariff:t']);
    expect(problems).toMatchObject([{ column: 'tariffs', kind: 'value' }]);
  });

  it('goes for ids too: repeated ones and ones that are too long are left out, reported', () => {
    const { catalogs, problems } = collect([
      station('S1', [charger('a'), charger('a')]),
      station('S2', [charger('a')], { at: 'row 3' }),
      station('x'.repeat(513), [charger('b')], { at: 'row 4' }),
    ]);
    expect(catalogs.map(({ id }) => id)).toEqual(['S1']);
    expect(problems).toMatchObject([
      { value: 'a', kind: 'left-out' },
      { value: 'a', kind: 'left-out' },
      { at: 'row 4', kind: 'left-out', why: expect.stringContaining('at most 512 characters') },
    ]);
  });
});

it('the same stations give the same catalogs every time', () => {
  const stations = () => [station('S1', [charger('a'), charger('b')]), station('S2', [charger('c')])];
  expect(JSON.stringify(collect(stations()).catalogs)).toBe(JSON.stringify(collect(stations()).catalogs));
});
