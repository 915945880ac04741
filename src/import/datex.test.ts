import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { dataFile } from '../../tests/support/catalogs/data-dir.ts';
import { bundledChecker } from '../../tests/support/hosted/published-tree.ts';
import { ocpiLocation, ocpiTariff } from '../../tests/support/peers/ocpi-server.ts';
import type { Catalog } from '../protocol/catalog.ts';
import type { Json } from '../protocol/json.ts';
import { createCollector } from './collect.ts';
import { stationsOfDatex } from './datex.ts';
import { exportDatex } from './datex-export.ts';
import { connectorTypes, plainName } from './datex-values.ts';
import { stationsOfOcpi } from './ocpi.ts';
import type { Station } from './station.ts';

const options = {
  now: new Date('2026-02-01T00:00:00Z'),
  lang: 'en',
  creator: { country: 'DE', nationalIdentifier: 'DE-NAP-ABC' },
};

async function catalogsOf(stations: Iterable<Station>): Promise<Catalog[]> {
  const collector = createCollector({ per: 'station', checker: await bundledChecker(), keepDoubtful: true });
  for (const station of stations) collector.add(station);
  return collector.finish().catalogs.map(({ unpack }) => unpack());
}

const locations = [
  ocpiLocation('A', {
    tariff: 'T1',
    statuses: ['AVAILABLE', 'OUTOFORDER'],
    opening_times: { twentyfourseven: true },
  }),
  ocpiLocation('B', { tariff: 'T2' }),
] as unknown as Json[];
const restricted = {
  price_components: [{ type: 'TIME', price: 6, vat: 19, step_size: 60 }],
  restrictions: { min_duration: 3_600 },
};
const parking = { price_components: [{ type: 'PARKING_TIME', price: 3, step_size: 60 }] };
const tariffs = [
  ocpiTariff('T1', 0.59),
  { ...ocpiTariff('T2', 0), type: 'AD_HOC_PAYMENT', elements: [restricted, parking] },
] as unknown as Json[];

describe('EV chargers as DATEX II', () => {
  it('come back from OCPI by way of DATEX II with all but what has no place there', async () => {
    const catalogs = await catalogsOf(stationsOfOcpi(locations, tariffs).stations);
    const { table, status, problems } = exportDatex(catalogs, options);
    expect(problems.map(({ at, why }) => `${at} ${why}`)).toEqual([
      'DE*ABC*B:tariff:T2 has no place in DATEX II',
    ]);
    const back = await catalogsOf(stationsOfDatex([table, status]).stations);
    const told = (from: Catalog[]) =>
      from.map(({ descriptor, provider, resources = [], offers = [] }) => ({
        name: descriptor.name,
        operator: provider.descriptor.name,
        place: {
          ...provider.availableAt?.[0],
          address: { ...provider.availableAt?.[0]?.address, addressCountry: '' },
        },
        chargers: resources.map(({ resourceAttributes }) => {
          const { connectorDescription: _, ...attributes } = Object(resourceAttributes?.attributes);
          return attributes;
        }),
        prices: offers.flatMap(({ considerations = [] }) =>
          considerations
            .filter(({ id }) => id !== 'parking-time')
            .flatMap(
              ({ considerationAttributes }) => considerationAttributes?.components as { step?: unknown }[],
            )
            .map(({ step: _, ...price }) => price),
        ),
      }));
    expect(told(back)).toEqual(told(catalogs));
  });

  const schemas = dataFile('charging/datex2-3.7');
  const feed = dataFile('charging/datex2_enbw_static_reduced.json');
  it.skipIf(!existsSync(schemas))(
    'are valid by the schemas of DATEX II 3.7 (needs the schemas)',
    async () => {
      const ajv = new Ajv2020({ strict: false, allErrors: true });
      formats.default(ajv);
      for (const file of readdirSync(schemas).filter((name) => name.endsWith('.json')))
        ajv.addSchema(JSON.parse(readFileSync(join(schemas, file), 'utf8')), file);
      const validate = ajv.getSchema('DATEXII_3_D2Payload.json');
      const stations = [
        stationsOfOcpi(locations, tariffs).stations,
        stationsOfDatex([JSON.parse(readFileSync(feed, 'utf8'))]).stations,
      ];
      for (const list of stations) {
        validate?.(exportDatex(await catalogsOf(list), options).table);
        expect(validate?.errors ?? []).toEqual([]);
      }
    },
  );

  it.skipIf(!existsSync(schemas))(
    'have a place in docs/charging.md for each member of the schemas, and a type for each connector (needs the schemas)',
    () => {
      const guide = readFileSync('docs/charging.md', 'utf8').split('| DATEX II v3 | becomes |')[1] ?? '';
      const read = (name: string) =>
        JSON.parse(readFileSync(join(schemas, `DATEXII_3_${name}.json`), 'utf8')).$defs;
      const definitions = { ...read('Facilities'), ...read('EnergyInfrastructure') };
      const types = [
        'EnergyInfrastructureSite',
        'EnergyInfrastructureStation',
        'ElectricChargingPoint',
        'Connector',
      ];
      const members = types.flatMap((type) => Object.keys(definitions[type].properties));
      const absent = members.filter(
        (name) => !name.endsWith('ExtensionG') && !new RegExp(`\\b${name}\\b`).test(guide),
      );
      expect({ count: members.length > 40, absent }).toEqual({ count: true, absent: [] });
      const connectors: string[] = definitions.ConnectorTypeEnum.enum;
      expect(connectors.filter((name) => !connectorTypes.has(plainName(name)))).toEqual(['extendedG']);
    },
  );

  it('are found whatever prefix and case a publisher writes', () => {
    const point = {
      egiElectricChargingPoint: {
        idG: 'DE*X*E1',
        connector: [{ connectorType: { value: 'IEC_62196_T2_Combo' }, maxPowerAtSocket: 50_000 }],
      },
    };
    const station = { idG: 'S1', refillPoint: [point] };
    const site = { idG: 'P1', name: 'Markt', energyInfrastructureStation: [station] };
    const document = {
      payload: {
        EnergyInfrastructureTablePublication: {
          energyInfrastructureTable: { energyInfrastructureSite: site },
        },
      },
    };
    const { stations, problems } = stationsOfDatex([document]);
    expect([...stations]).toMatchObject([
      {
        name: 'Markt',
        chargers: [{ id: 'DE*X*E1*1', attributes: { connectorType: 'CCS2', ratedPower: { value: 50 } } }],
      },
    ]);
    expect(problems.map(({ column }) => column)).toEqual(['locationReference']);
  });

  it('are not to be had from another document', () => {
    expect(() => stationsOfDatex([{ payload: {} }])).toThrow('no DATEX II table');
    expect(() => stationsOfDatex([{ payload: { modelBaseVersionG: '4' } }])).toThrow(
      'it is written in version 4 of DATEX II, and only version 3 is known',
    );
  });

  it('have no price and no kind of current that only one connector of an EVSE has', async () => {
    const [first] = (ocpiLocation('A', { tariff: 'T1' }) as unknown as { evses: { connectors: object[] }[] })
      .evses;
    const [dc] = first?.connectors ?? [];
    const ac = { ...dc, id: '2', power_type: 'AC_3_PHASE', tariff_ids: ['T3'] };
    const location = { ...ocpiLocation('A'), evses: [{ ...first, connectors: [dc, ac] }] };
    const catalogs = await catalogsOf(
      stationsOfOcpi([location] as unknown as Json[], [...tariffs, ocpiTariff('T3', 0.4)] as Json[]).stations,
    );
    const { table, problems } = exportDatex(catalogs, options);
    expect(problems.map(({ at, column }) => [at, column])).toEqual([
      ['DE*ABC*EA1', 'powerType'],
      ['DE*ABC*A:tariff:T1', 'price'],
      ['DE*ABC*A:tariff:T3', 'price'],
    ]);
    const [back] = await catalogsOf(stationsOfDatex([table]).stations);
    expect(back?.offers).toBeUndefined();
    expect(back?.resources).toHaveLength(2);
  });

  it('have no price that is not valid yet', async () => {
    const tariff = { ...ocpiTariff('T1', 0.5), start_date_time: '2026-03-01T00:00:00Z' };
    const location = ocpiLocation('A', { tariff: 'T1' });
    const catalogs = await catalogsOf(stationsOfOcpi([location] as Json[], [tariff] as Json[]).stations);
    const { table, problems } = exportDatex(catalogs, options);
    expect(problems.map(({ why }) => why)).toEqual(['is not valid now, and DATEX II has no time for it']);
    expect(JSON.stringify(table)).not.toContain('energyRate');
  });

  it('have the position, address, hours, operator and power that DATEX II has at its several places', () => {
    const text = (value: string) => ({ values: [{ lang: 'de', value }] });
    const coordinates = (latitude: number, longitude: number) => ({ latitude, longitude });
    const line = (order: number, words: string) => ({ order, text: text(words) });
    const days = ['saturday', 'sunday'].map((value) => ({ value }));
    const site: Json = {
      additionalInformation: [text('Park + Ride')],
      operator: {
        afacAnOrganisation: {
          name: text('Stadtwerke'),
          externalIdentifier: [
            { identifier: '99', typeOfIdentifier: { value: 'other' } },
            { identifier: 'SWX', typeOfIdentifier: { value: 'extendedG', extendedValueG: 'operatorId' } },
          ],
        },
      },
      operatingHours: {
        afacOperatingHoursSpecification: {
          overallPeriod: {
            validPeriod: [
              {
                recurringTimePeriodOfDay: [
                  { startTimeOfPeriod: '08:00:00', endTimeOfPeriod: '12:30:00' },
                  { startTimeOfPeriod: '14:00:00', endTimeOfPeriod: '18:00:00' },
                ],
                recurringDayWeekMonthPeriod: [{ comDayWeekMonth: { applicableDay: days } }],
              },
            ],
          },
        },
      },
      locationReference: {
        locPointLocation: {
          coordinatesForDisplay: coordinates(48.7, 9.1),
          locLocationExtensionG: {
            FacilityLocation: {
              timeZone: 'Europe/Berlin',
              address: {
                postcode: '73117',
                city: text('Wangen'),
                countryCode: 'DE',
                addressLine: [line(2, '7'), line(1, 'Am Markt')],
              },
            },
          },
        },
      },
      energyInfrastructureStation: [
        {
          idG: 'A',
          locationReference: {
            locPointLocation: {
              pointByCoordinates: { pointCoordinates: coordinates(48.8, 9.2) },
              coordinatesForDisplay: coordinates(1, 1),
            },
          },
          refillPoint: [
            {
              aegiElectricChargingPoint: {
                ...{ idG: 'DE*SWX*EA', currentType: { value: 'ac' }, availableChargingPower: [22_000] },
                connector: [
                  { connectorType: { value: 'iec62196T2' }, connectorFormat: { value: 'socket' } },
                  { connectorType: { value: 'chademo' }, connectorFormat: { value: 'cableMode3' } },
                ],
              },
            },
          ],
        },
        { idG: 'B', name: text('B'), operator: { afacAnOrganisation: { externalCode: 'DE*ABC' } } },
        { idG: 'C', locationReference: { locPointLocation: { coordinatesForDisplay: { latitude: 99 } } } },
      ],
    };
    const { stations } = read([site]);
    const [exact, other, vague] = [...stations];
    expect(exact).toMatchObject({
      id: 'DE*SWX*A',
      name: 'Park + Ride',
      operator: { id: 'DE*SWX', name: 'Stadtwerke' },
      geo: { coordinates: [9.2, 48.8] },
      address: { streetAddress: 'Am Markt 7', addressLocality: 'Wangen', postalCode: '73117' },
    });
    const shared = { powerType: 'AC', evseId: 'DE*SWX*EA', timeZone: 'Europe/Berlin' };
    const openingHours = 'Sa-Su 08:00-12:30,14:00-18:00';
    expect(exact?.chargers.map(({ attributes }) => attributes)).toMatchObject([
      { ...shared, openingHours, connectorFormat: 'SOCKET', ratedPower: { value: 22 } },
      { ...shared, openingHours, connectorFormat: 'CABLE', connectorType: 'CHAdeMO' },
    ]);
    expect(other).toMatchObject({ id: 'DE*ABC*B', name: 'B', geo: { coordinates: [9.1, 48.7] } });
    expect(vague?.geo).toMatchObject({ coordinates: [9.1, 48.7] });
  });

  it('report each field that goes nowhere, once for a site and its status', () => {
    const point = (idG: string) => ({
      aegiElectricChargingPoint: { idG, versionG: '1', numberOfConnectors: 1, connector: [{ voltage: 400 }] },
    });
    const station = { idG: 'A', helpdesk: { idG: 'H', name: 'Help' }, refillPoint: [point('1'), point('2')] };
    const { stations, problems } = read(
      [{ idG: 'S', energyInfrastructureStation: [station] }],
      [{ reference: { idG: 'S' }, isOvercrowded: true }],
    );
    expect([...stations]).toHaveLength(1);
    const prefix = 'energyInfrastructureSite.energyInfrastructureStation';
    const notes = problems.filter(({ kind }) => kind === 'note');
    expect(notes.map(({ at, column }) => [at, column])).toEqual([
      ['status of site S', 'energyInfrastructureSiteStatus.isOvercrowded'],
      ['site S', `${prefix}.helpdesk`],
      ['site S', `${prefix}.refillPoint.numberOfConnectors`],
      ['site S', `${prefix}.refillPoint.connector.voltage`],
    ]);
  });

  const read = (sites: Json[], statuses: Json[] = []) =>
    stationsOfDatex([
      {
        payload: {
          aegiEnergyInfrastructureTablePublication: {
            energyInfrastructureTable: [{ energyInfrastructureSite: sites }],
          },
          aegiEnergyInfrastructureStatusPublication: { energyInfrastructureSiteStatus: statuses },
        },
      },
    ]);

  it('report what they cannot import of hours, prices, power and statuses', async () => {
    const point = {
      ...{ idG: 'DE*X*E1', rates: { facRateTable: {} } },
      connector: [{ connectorType: { value: 'iec62196T2' }, maxPowerAtSocket: 0 }],
    };
    const validPeriod: Json[] = [
      { recurringTimePeriodOfDay: [{ startTimeOfPeriod: '08:00:00', endTimeOfPeriod: '18:00:00' }] },
      { recurringDayWeekMonthPeriod: [{ comDayWeekMonth: { applicableMonth: [{ value: 'june' }] } }] },
    ];
    const station = {
      ...{ idG: 'S1', rates: { facUnknownRates: {} }, refillPoint: [{ egiElectricChargingPoint: point }] },
      operatingHours: { facOperatingHoursSpecification: { overallPeriod: { validPeriod } } },
      locationReference: { locPointLocation: { coordinatesForDisplay: { latitude: 48.9, longitude: 9.2 } } },
    };
    const status = { reference: { idG: 'DE*X*E1' }, status: { value: 'dreaming' } };
    const stationStatus = { refillPointStatus: [{ aegiRefillPointStatus: status }] };
    const { stations, problems } = read(
      [{ energyInfrastructureStation: [station] }],
      [{ energyInfrastructureStationStatus: [stationStatus] }],
    );
    const [{ chargers } = { chargers: [] }] = [...stations];
    expect(chargers.map(({ attributes }) => attributes)).toEqual([
      {
        ...{ connectorType: 'Type2', connectorDescription: 'iec62196T2', evseId: 'DE*X*E1' },
        openingHours: 'Mo-Su 08:00-18:00',
      },
    ]);
    expect(problems.map(({ column, value, kind }) => [column, value, kind])).toEqual([
      ['status', 'dreaming', 'value'],
      ['operatingHours.validPeriod', undefined, 'value'],
      ['rates', 'facRateTable', 'value'],
    ]);
  });
});
