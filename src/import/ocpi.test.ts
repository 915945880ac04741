import { describe, expect, it } from 'vitest';
import type { Json } from '../protocol/json.ts';
import { objectsOf, stationsOfOcpi } from './ocpi.ts';
import { connectorTypeOf, powerOfConnector } from './ocpi-evse.ts';

const connector = {
  id: '1',
  standard: 'IEC_62196_T2_COMBO',
  format: 'CABLE',
  power_type: 'DC',
  max_voltage: 920,
  max_amperage: 400,
  max_electric_power: 150_000,
  last_updated: '2026-01-31T12:00:00Z',
};
const evse = { uid: '3256', evse_id: 'BE*BEC*E041503001', status: 'AVAILABLE', connectors: [connector] };
const location = {
  country_code: 'BE',
  party_id: 'BEC',
  id: 'LOC1',
  publish: true,
  name: 'Gent Zuid',
  address: 'F.Rooseveltlaan 3A',
  city: 'Gent',
  postal_code: '9000',
  country: 'BEL',
  coordinates: { latitude: '51.047599', longitude: '3.729944' },
  operator: { name: 'BeCharged' },
  evses: [evse],
  last_updated: '2026-01-31T12:00:00Z',
};

function read(...locations: Json[]) {
  return readAll(locations);
}

function readAll(document: Json) {
  const { stations, ...read } = stationsOfOcpi(objectsOf(document));
  return { stations: [...stations], ...read };
}

describe('an OCPI location', () => {
  it('becomes a station, each connector of each EVSE a charger', () => {
    const { stations, problems } = read({ ...location, evses: [evse, { ...evse, uid: '3257' }] });
    expect(problems).toEqual([]);
    expect(stations).toMatchObject([
      {
        id: 'BE*BEC*LOC1',
        name: 'Gent Zuid',
        operator: { id: 'BE*BEC', name: 'BeCharged' },
        geo: { type: 'Point', coordinates: [3.729944, 51.047599] },
        address: {
          streetAddress: 'F.Rooseveltlaan 3A',
          addressLocality: 'Gent',
          postalCode: '9000',
          addressCountry: 'BEL',
        },
        chargers: [
          {
            id: 'BE*BEC*3256*1',
            name: 'CCS2 150 kW at Gent Zuid',
            attributes: {
              connectorType: 'CCS2',
              connectorDescription: 'IEC_62196_T2_COMBO',
              connectorFormat: 'CABLE',
              powerType: 'DC',
              ratedPower: { value: 150, unit: 'kW' },
              evseId: 'BE*BEC*E041503001',
            },
          },
          { id: 'BE*BEC*3257*1' },
        ],
      },
    ]);
  });

  it.each([
    ['alone', location],
    ['in an array', [location]],
    ['as the data of an answer', { status_code: 1000, data: location, timestamp: '2026-01-31T12:00:00Z' }],
    ['in the data of an answer', { status_code: 1000, data: [location] }],
  ])('is read %s', (_, document) => {
    expect(readAll(document)).toMatchObject({ count: 1, stations: [{ id: 'BE*BEC*LOC1' }] });
  });

  it.each([
    [
      'an error of the endpoint',
      { status_code: 2001, status_message: 'Invalid parameters' },
      /2001 Invalid parameters/,
    ],
    ['an answer without data', { status_code: 1000 }, /without data/],
    ['a text', 'BE*BEC', /no OCPI object/],
  ])('is not to be had from %s', (_, document, message) => {
    expect(() => objectsOf(document)).toThrow(message);
  });

  it('without tariffs has none, be it that they are null', () => {
    const connectors = [{ ...connector, tariff_ids: null }];
    const { stations, problems } = read({ ...location, evses: [{ ...evse, connectors }] });
    expect(problems).toEqual([]);
    expect(stations).toMatchObject([{ tariffs: [], chargers: [{ id: 'BE*BEC*3256*1' }] }]);
  });

  it('that is not for the public is left out, and that is told', () => {
    const { stations, problems } = read({ ...location, publish: false });
    expect(stations).toEqual([]);
    expect(problems).toMatchObject([{ at: 'location 1 (LOC1)', column: 'publish', kind: 'note' }]);
  });

  it.each(['country_code', 'party_id', 'id'])('without %s is left out, reported', (member) => {
    const { stations, problems } = read({ ...location, [member]: '' }, location);
    expect(stations).toHaveLength(1);
    expect(problems).toMatchObject([{ kind: 'left-out' }]);
  });

  it('without a position, or with one that is none, is kept and reported', () => {
    const coordinates = { latitude: '99', longitude: '3.7' };
    const { stations, problems } = read({ ...location, coordinates }, { ...location, coordinates: null });
    expect(stations).toMatchObject([{ geo: undefined }, { geo: undefined }]);
    expect(problems).toMatchObject([
      { column: 'coordinates', value: JSON.stringify(coordinates) },
      { column: 'coordinates', value: 'null' },
    ]);
  });

  it('reports which members are not imported', () => {
    const { problems } = read({ ...location, facilities: ['CAFE'], images: [] });
    expect(problems).toMatchObject([{ column: 'facilities', kind: 'note' }]);
    const operator = { name: 'BeCharged', website: 'https://becharged.example' };
    expect(read({ ...location, operator }).problems).toMatchObject([
      { column: 'operator.website', kind: 'note' },
    ]);
    const evses = [
      { ...evse, directions: [{ text: 'Left' }], floor_level: null },
      { ...evse, uid: '2', directions: [{}] },
    ];
    expect(read({ ...location, evses }).problems).toMatchObject([
      { column: 'evses.directions', kind: 'note' },
    ]);
  });
});

describe('an EVSE', () => {
  it.each(['REMOVED', 'PLANNED'])('that is %s is left out, and that is told', (status) => {
    const { stations, problems } = read({ ...location, evses: [evse, { ...evse, uid: '2', status }] });
    expect(stations[0]?.chargers.map(({ id }) => id)).toEqual(['BE*BEC*3256*1']);
    expect(problems).toMatchObject([{ column: 'evses.status', value: status, kind: 'note' }]);
  });

  it('gives its chargers its status with the time that it was reported, also when it is out of order', () => {
    const broken = { ...evse, status: 'OUTOFORDER', last_updated: '2026-01-31T12:00:00Z' };
    const [station] = read({ ...location, evses: [broken] }).stations;
    expect(station?.isActive).toBeUndefined();
    expect(station?.chargers[0]?.attributes.availability).toEqual({
      status: 'OUTOFORDER',
      reportedAt: '2026-01-31T12:00:00Z',
    });
  });

  it('without connectors is left out, and reported', () => {
    const { stations, problems } = read({
      ...location,
      evses: [evse, { ...evse, uid: '2', connectors: [] }],
    });
    expect(stations[0]?.chargers).toHaveLength(1);
    expect(problems).toMatchObject([{ column: 'evses[1]', value: '2', kind: 'left-out' }]);
  });

  it('without a uid, and a connector without an id, are left out and reported', () => {
    const evses = [
      { ...evse, uid: null },
      { ...evse, connectors: [{ ...connector, id: '' }, connector] },
    ];
    const { stations, problems } = read({ ...location, evses });
    expect(stations[0]?.chargers).toHaveLength(1);
    expect(problems).toMatchObject([
      { column: 'evses[0]', kind: 'left-out' },
      { column: 'evses[1].connectors[0]', kind: 'left-out' },
    ]);
    expect(read({ ...location, evses: [] }).problems).toMatchObject([{ kind: 'left-out' }]);
  });
});

describe('a connector', () => {
  it.each([
    ['IEC_62196_T1', 'Type1'],
    ['IEC_62196_T1_COMBO', 'CCS1'],
    ['IEC_62196_T2', 'Type2'],
    ['CHADEMO', 'CHAdeMO'],
    ['GBT_DC', 'GB_T'],
    ['TESLA_S', 'NACS'],
    ['DOMESTIC_F', 'Other'],
    ['IEC_60309_2_three_32', 'Other'],
    ['NEMA_14_50', 'Other'],
    ['PANTOGRAPH_TOP_DOWN', 'Other'],
    ['IEC_62196_T4', undefined],
  ])('of standard %s is %s', (standard, type) => expect(connectorTypeOf(standard)).toBe(type));

  it.each([
    [{ max_electric_power: 22_000 }, 22],
    [{ power_type: 'AC_3_PHASE', max_voltage: 230, max_amperage: 32 }, 22.08],
    [{ power_type: 'AC_1_PHASE', max_voltage: 230, max_amperage: 16 }, 3.68],
    [{ power_type: 'DC', max_voltage: 400, max_amperage: 125 }, 50],
    [{ power_type: 'AC_2_PHASE', max_voltage: 230, max_amperage: 16 }, undefined],
    [{ power_type: 'DC', max_voltage: 400 }, undefined],
  ])('%o has a power of %s kW', (members, kilowatts) => {
    expect(powerOfConnector(members)?.value).toBe(kilowatts);
  });

  it.each([
    [['ISO_15118_2_PLUG_AND_CHARGE', 'ISO_15118_20_PLUG_AND_CHARGE'], 'ISO_15118_20'],
    [['ISO_15118_2_PLUG_AND_CHARGE'], 'ISO_15118_2'],
    [[], undefined],
    [null, undefined],
  ])('with the capabilities %o has the control protocol %s', (capabilities, protocol) => {
    const evses = [{ ...evse, connectors: [{ ...connector, capabilities }] }];
    const { stations, problems } = read({ ...location, evses });
    expect(stations[0]?.chargers[0]?.attributes.controlProtocol).toBe(protocol);
    expect(problems).toEqual([]);
  });

  it('of an unknown standard is a charger without connectorType, reported', () => {
    const connectors = [{ ...connector, standard: 'WOODEN' }];
    const { stations, problems } = read({ ...location, evses: [{ ...evse, connectors }] });
    expect(stations[0]?.chargers[0]).toMatchObject({ name: 'Charger 150 kW at Gent Zuid' });
    expect(stations[0]?.chargers[0]?.attributes).not.toHaveProperty('connectorType');
    expect(problems).toMatchObject([{ column: 'evses.connectors.standard', value: 'WOODEN', kind: 'value' }]);
  });
});
