import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { runCommand } from '../../tests/support/processes/command.ts';
import { attributesOf, useImports } from '../../tests/support/processes/imports.ts';
import { parseMapping } from '../import/mapping.ts';
import type { Catalog } from '../protocol/catalog.ts';
import { register as registerImportCommand } from './import.ts';

const { file, path, run } = useImports();

describe('signpost import csv', () => {
  it('turns the example list into a publish body that is accepted', async () => {
    const { exitCode, catalogs, directives, notes } = await run(['csv', 'stations', 'examples/stations.csv']);
    expect(exitCode).toBe(0);
    expect(catalogs.map(({ id, isActive, resources }) => [id, isActive, resources?.length])).toEqual([
      ['IN*VLT*IND', undefined, 3],
      ['IN*VLT*KOR', undefined, 2],
      ['IN*ECO*MYS', false, 1],
    ]);
    expect(directives[0]).toEqual({ catalogId: 'IN*VLT*IND', catalogType: 'REGULAR', updateMode: 'FULL' });
    expect(notes).toContain(
      '3 rows: 3 stations with 6 chargers in 3 catalogs; 0 rows left out, 0 with values not imported.',
    );
  });

  it('makes one catalog per operator when told to, for the networks that are named, into a file', async () => {
    const options = ['--per', 'operator', '--network', 'example.org/ev', '--out', path('out.json')];
    const { catalogs, directives, out } = await run(['csv', 'stations', 'examples/stations.csv', ...options]);
    expect(out).toBe('');
    expect(catalogs.map(({ id, resources }) => [id, resources?.length])).toEqual([
      ['IN:voltpath-charging', 5],
      ['IN:ecopower', 1],
    ]);
    expect(directives).toMatchObject([{ visibleTo: ['example.org/ev'] }, { visibleTo: ['example.org/ev'] }]);
  });

  it('gives the same bytes for the same list', async () => {
    const [first, second] = [
      await run(['csv', 'stations', '-'], list),
      await run(['csv', 'stations', '-'], list),
    ];
    expect(first.out).toBe(second.out);
  });

  const list = [
    'id,operator,latitude,longitude,connectors,colour',
    'S1,Voltpath,12.9,77.6,"[{""type"":""CCS2"",""powerKw"":50},{""type"":""Wooden""}]",red',
    ',Voltpath,12.9,77.6,"[{""type"":""CCS2""}]",red',
    '',
    'S3,Voltpath,north,77.6,"[{""type"":""Wooden""}]",red',
    'S4,Voltpath,12.9,77.6,[],red,one cell too many',
  ].join('\n');

  it('reports what it cannot import with row, column and value, and exits with 2 when a row is left out', async () => {
    const report = path('report.jsonl');
    const { exitCode, catalogs, notes } = await run(['csv', 'stations', '-', '--report', report], list);
    expect(exitCode).toBe(2);
    expect(catalogs.map(({ id }) => id)).toEqual(['S1', 'S3']);
    expect(notes).toContain('Left out:\n  row 3: id leaves station.id empty');
    expect(notes).toContain('row 6: has 7 cells instead of 6');
    expect(notes).toContain(
      'row 2, 5: connector.type "Wooden" is not a value of charger.attributes.connectorType',
    );
    expect(notes).toContain('row 5: latitude "north" is not a number');
    expect(notes).toContain('columns: "colour" (not imported, because the mapping does not name them)');
    expect(notes).toContain(
      '4 rows: 2 stations with 3 chargers in 2 catalogs; 2 rows left out, 2 with values not imported.',
    );
    const findings = readFileSync(report, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(findings).toContainEqual({
      at: 'row 5',
      column: 'latitude',
      value: 'north',
      why: 'is not a number',
      kind: 'value',
    });
  });

  it('counts rows, however much is wrong with one, and apart those of which a part is left out', async () => {
    const rows = [
      'id,operator,latitude,longitude,charger,kind,power',
      ',,north,east,a,EV_CHARGER,much',
      'S1,Voltpath,12.9,77.6,b,EV_CHARGER,22',
      'S1,Voltpath,12.9,77.6,b,EV_CHARGER,22',
      'S2,Voltpath,north,east,c,EV_CHARGER,much',
      'S2,Voltpath,12.9,77.6,d;d,EV_CHARGER,22',
    ].join('\n');
    const mapping = file('m.yaml', repeating);
    const { exitCode, notes } = await run(['csv', mapping, '-'], rows);
    expect(exitCode).toBe(2);
    expect(notes).toContain(
      '5 rows: 2 stations with 3 chargers in 2 catalogs; 2 rows left out, 1 in part, 2 with values not imported.',
    );
  });

  const repeating = [
    'operator: { id: "{operator|slug}", name: "{operator}" }',
    'station: { id: "{id}", latitude: "{latitude}", longitude: "{longitude}" }',
    'connectors: { columns: { name: charger }, separator: ";" }',
    'charger: { id: "{connector.name}", type: "{kind}", attributes.ratedPower: { from: "{power}", unit: kW } }',
  ].join('\n');

  it('leaves out a second row with the id of a station at another place, and names both', async () => {
    const rows = [
      'id,operator,latitude,longitude,postalCode,connectors',
      'S1,Voltpath,12.9719,77.6408,560038,"[{""type"":""CCS2""}]"',
      'S1,Voltpath,12.9720,77.6410,560038,"[{""type"":""Type2""}]"',
      'S1,Voltpath,12.9352,77.6245,560034,"[{""type"":""CHAdeMO""}]"',
      'S1,Voltpath,,,570 001,"[{""type"":""CHAdeMO""}]"',
    ].join('\n');
    const { exitCode, catalogs, notes } = await run(['csv', 'stations', '-'], rows);
    expect(exitCode).toBe(2);
    const connectors = catalogs.map((catalog) =>
      attributesOf(catalog).map((one) => Object(one).connectorType),
    );
    expect(connectors).toEqual([['CCS2', 'Type2']]);
    expect(notes).toContain(
      'row 4, 5: "S1" is also the id of the station at row 2, which is at another place',
    );
    expect(notes).toContain('4 rows: 1 station with 2 chargers in 1 catalog; 2 rows left out');
  });

  it('names places that look wrong, and holds them back unless asked to keep them', async () => {
    const rows = ['id,operator,latitude,longitude,country', ...places].join('\n');
    const report = path('report.jsonl');
    const { exitCode, catalogs, notes } = await run(['csv', 'stations', '-', '--report', report], rows);
    expect({ exitCode, ids: catalogs.map(({ id }) => id) }).toEqual({
      exitCode: 2,
      ids: ['S1', 'S2', 'S3', 'S4', 'S10'],
    });
    const kept = await run(['csv', 'stations', '-', '--keep-doubtful'], rows);
    expect(kept.catalogs).toHaveLength(places.length);
    expect(kept.notes).toContain('Published although the place looks wrong:');
    const [, told = ''] = /Held back, because the place looks wrong[^\n]*\n([\s\S]*?)\n\n/.exec(notes) ?? [];
    expect(told.split('\n')).toEqual([
      '  row 6 (77.61, 12.91): seems to have latitude and longitude swapped: the other way round it is in IN, the country of the row',
      '  row 7 (51.5, -0.12): is outside IN, the country of the row',
      '  row 8 (77.62, 12.92): seems to have latitude and longitude swapped: the other way round it is among the others',
      '  row 9 (-33.86, 151.2): is far from all others',
      '  row 10 (0, 0): is a point in the sea where 0° and 0° meet: it looks as if it was not filled in',
    ]);
    expect(notes).toContain('0 rows left out, 1 with values not imported, 5 held back.');
    expect(notes).toContain(
      'row 11: "177.6, 12.9" has no position on earth, but has one with latitude and longitude swapped',
    );
    const finding = { at: 'row 9', value: '-33.86, 151.2', why: 'is far from all others', kind: 'doubt' };
    expect(readFileSync(report, 'utf8')).toContain(JSON.stringify(finding));
  });

  const places = [
    'S1,Voltpath,12.97,77.64,IN',
    'S2,Voltpath,12.93,77.62,IND',
    'S3,Voltpath,12.30,76.65,India',
    'S4,Voltpath,13.01,77.55,',
    'S5,Voltpath,77.61,12.91,IN',
    'S6,Voltpath,51.5,-0.12,IN',
    'S7,Voltpath,77.62,12.92,',
    'S8,Voltpath,-33.86,151.2,',
    'S9,Voltpath,0,0,',
    'S10,Voltpath,177.6,12.9,IN',
  ];

  it('makes offers of prices, the same prices of several connectors one offer', async () => {
    const connectors = JSON.stringify([
      { type: 'CCS2', pricePerKwh: 0.69 },
      { type: 'Type2' },
      { type: 'Type2' },
    ]);
    const rows = [
      'id,operator,latitude,longitude,currency,pricePerKwh,pricePerMinute,pricePerSession,priceValidFrom,priceValidUntil,openingHours,connectors',
      `S1,Voltpath,12.97,77.64,eur,0.49,0.08,1,2026-01-01,2026-12-31,24/7,"${connectors.replaceAll('"', '""')}"`,
      'S2,Voltpath,12.93,77.62,EUR,0,,,,,,',
      'S3,Voltpath,12.94,77.62,EUR,,,,,,,',
    ].join('\n');
    const { exitCode, catalogs, notes } = await run(['csv', 'stations', '-'], rows);
    expect(exitCode, notes).toBe(0);
    const prices = catalogs.map(({ offers = [] }) =>
      offers.map(({ id, resourceIds, validity, considerations = [] }) => [
        ...[id, resourceIds, validity?.startDate, validity?.endDate],
        ...considerations.map(({ considerationAttributes: { value, currency, unit } = {} as never }) =>
          [value, currency, unit].join(' '),
        ),
      ]),
    );
    const until = ['2026-01-01T00:00:00Z', '2026-12-31'];
    const others = ['4.8 EUR h', '1 EUR session'];
    expect(prices).toEqual([
      [
        ['S1:tariff:1', ['S1-1'], ...until, '0.69 EUR kWh', ...others],
        ['S1:tariff:2', ['S1-2', 'S1-3'], ...until, '0.49 EUR kWh', ...others],
      ],
      // A free tariff and an unknown one.
      [['S2:tariff:1', ['S2-1'], undefined, undefined, '0 EUR kWh']],
      [],
    ]);
    expect(attributesOf(catalogs[0] as Catalog)).toMatchObject([{ openingHours: '24/7' }, {}, {}]);
    expect(notes).toContain('3 stations with 5 chargers and 3 tariffs in 3 catalogs');
  });

  it('reports a price that cannot be read or has no currency, and with --strict writes nothing then', async () => {
    const rows =
      'id,operator,latitude,longitude,pricePerKwh,currency\nS1,V,12.9,77.6,cheap,EUR\nS2,V,12.9,77.6,0.5,';
    const { exitCode, catalogs, notes } = await run(['csv', 'stations', '-'], rows);
    expect({ exitCode, offers: catalogs.flatMap(({ offers = [] }) => offers) }).toEqual({
      exitCode: 2,
      offers: [],
    });
    expect(notes).toContain('row 2: pricePerKwh "cheap" is not a number');
    expect(notes).toContain('row 3: prices.currency has no currency: the price is missing');
    const strict = await run(['csv', 'stations', '-', '--strict'], rows);
    expect(strict).toMatchObject({ exitCode: 1, out: '' });
    expect(strict.notes).toContain('Nothing was written.');
  });

  it('reads a list with a byte order mark, lines of Windows, and quoted cells', async () => {
    const rows = ['id,operator,name,pricePerKwh,currency', 'S1,V,"Market, ""north""\r\nside",0.5,eur', ''];
    const { exitCode, catalogs } = await run([
      'csv',
      'stations',
      file('w.csv', `\ufeff${rows.join('\r\n')}`),
    ]);
    expect(exitCode).toBe(2);
    expect(catalogs).toMatchObject([
      {
        ...{ id: 'S1', descriptor: { name: 'Market, "north"\r\nside' } },
        offers: [{ considerations: [{ considerationAttributes: { value: 0.5, currency: 'EUR' } }] }],
      },
    ]);
  });

  it.each([
    ['a price below zero', '-0.5,EUR', 'prices.perKwh "-0.5" is below zero'],
    ['a price in another notation', '1e999,EUR', 'pricePerKwh "1e999" is not a number'],
    ['a price without end', `${'9'.repeat(400)},EUR`, 'is not a number'],
    ['a currency that is none', '0.5,Euro', 'prices.currency "Euro" is not a currency such as EUR'],
  ])('publishes a station without %s, and reports it', async (_, cells, why) => {
    const rows = `id,operator,latitude,longitude,pricePerKwh,currency\nS1,V,12.9,77.6,${cells}`;
    const { exitCode, catalogs, notes } = await run(['csv', 'stations', '-'], rows);
    expect({ exitCode, ids: catalogs.map(({ id }) => id) }).toEqual({ exitCode: 2, ids: ['S1'] });
    expect(catalogs[0]?.offers).toBeUndefined();
    expect(notes).toContain(why);
  });

  it("reads France's IRVE: a point of charge a row, connectors as true and false, coordinates in one cell", async () => {
    const rows = [
      'nom_operateur,nom_enseigne,id_station_itinerance,nom_station,adresse_station,coordonneesXY,id_pdc_itinerance,puissance_nominale,prise_type_ef,prise_type_2,prise_type_combo_ccs,prise_type_chademo,prise_type_autre,gratuit,tarification,horaires,date_mise_en_service',
      'Izivia,Grand Lyon,FRS07P1,Bellecour,Place Bellecour,"[4.8320,45.7578]",FRS07E1,22,true,True,false,FALSE,0,false,0.40 €/kWh,24/7,2022-05-01',
      'Izivia,Grand Lyon,FRS07P1,Bellecour,Place Bellecour,"[4.8320,45.7578]",FRS07E2,50,0,0,1,0,0,TRUE,,24/7,2022-05-01',
    ].join('\n');
    const { exitCode, catalogs, notes } = await run(['csv', 'irve', '-'], rows);
    expect(exitCode, notes).toBe(0);
    expect(catalogs).toMatchObject([
      { id: 'FRS07P1', provider: { availableAt: [{ geo: { coordinates: [4.832, 45.7578] } }] } },
    ]);
    expect(catalogs[0]?.resources?.map(({ id }) => id)).toEqual([
      'FRS07E1-ef',
      'FRS07E1-2',
      'FRS07E2-combo_ccs',
    ]);
    expect(catalogs[0]?.offers).toMatchObject([
      {
        resourceIds: ['FRS07E2-combo_ccs'],
        considerations: [{ considerationAttributes: { value: 0, unit: 'session' } }],
      },
    ]);
  });

  it('explains where the columns of a list go', async () => {
    const { out } = await explain('examples/stations.csv');
    expect(out).toContain('Mapping: stations');
    expect(out).toMatch(/operator +3 +Voltpath Charging +operator\.id, operator\.name/);
    expect(out).toMatch(/connectors +3 .*connectors/);
    const { out: json } = await explain('examples/stations.csv', '--json');
    expect(JSON.parse(json).fields).toContainEqual(
      expect.objectContaining({ field: 'city', filled: 3, example: 'Bengaluru', goesTo: 'station.city' }),
    );
  });

  it('explains where the fields of OCPI go, and which go nowhere', async () => {
    const { out } = await explain('examples/ocpi-locations.json');
    expect(out).toMatch(/evses\.evse_id +1 +IN\*VLT\*EHSR1 +attributes\.evseId/);
    const odd = file('odd.json', JSON.stringify({ id: '1', facilities: ['CAFE'] }));
    expect((await explain(odd)).out).toMatch(/facilities +1 +CAFE +\(nowhere\)/);
  });

  const explain = (name: string, ...args: string[]) =>
    runCommand(registerImportCommand, ['import', 'explain', name, ...args], {});

  it('explains where the fields of DATEX II go, whatever they are wrapped in', async () => {
    const connector = [{ connectorType: { value: 'iec62196T2' }, voltage: 400 }];
    const station = {
      locationReference: {
        locPointLocation: { locLocationExtensionG: { FacilityLocation: { timeZone: 'CET' } } },
      },
      refillPoint: [{ aegiElectricChargingPoint: { idG: 'DE*X*E1', connector } }],
    };
    const table = { energyInfrastructureSite: [{ energyInfrastructureStation: [station] }] };
    const payload = { aegiEnergyInfrastructureTablePublication: { energyInfrastructureTable: [table] } };
    const { out } = await explain(file('datex.json', JSON.stringify({ payload })), '--json');
    const prefix = 'energyInfrastructureSite.energyInfrastructureStation';
    expect(JSON.parse(out)).toEqual({
      title: 'DATEX II',
      fields: [
        {
          field: `${prefix}.locationReference.timeZone`,
          filled: 1,
          example: 'CET',
          goesTo: 'attributes.timeZone',
        },
        {
          ...{ field: `${prefix}.refillPoint.idG`, filled: 1, example: 'DE*X*E1' },
          goesTo: 'attributes.evseId, id of the charger',
        },
        {
          ...{ field: `${prefix}.refillPoint.connector.connectorType`, filled: 1 },
          ...{ example: '{"value":"iec62196T2"}', goesTo: 'attributes.connectorType, connectorDescription' },
        },
        { field: `${prefix}.refillPoint.connector.voltage`, filled: 1, example: '400' },
      ],
    });
  });

  it('names every column that is not imported, however many these are', async () => {
    const columns = Array.from({ length: 50 }, (_, index) => `unknown column ${index}`);
    const { notes } = await run(['csv', 'stations', '-'], `id,operator,${columns.join()}\nS1,Voltpath`);
    expect(notes).toContain(`columns: "${columns.join(', ')}" (not imported, because`);
  });

  it('tells of a column that is there twice', async () => {
    const { catalogs, notes } = await run(['csv', 'stations', '-'], 'id,operator,id\nS1,Voltpath,S2');
    expect(catalogs.map(({ id }) => id)).toEqual(['S1']);
    expect(notes).toContain('columns: "id" (repeated: the first that is not empty is used)');
  });

  it('reads the German register: preamble, windows-1252, semicolons, decimal commas, lists in cells', async () => {
    const { catalogs, exitCode, notes } = await run([
      'csv',
      'bnetza',
      file('r.csv', Buffer.from(german, 'latin1')),
    ]);
    expect(exitCode).toBe(2);
    expect(catalogs).toMatchObject([
      {
        id: 'DE*BNETZA*1010338',
        descriptor: { name: 'Stadtwerke Köln, Große Straße 1' },
        provider: {
          descriptor: { name: 'Stadtwerke Köln' },
          availableAt: [
            {
              geo: { type: 'Point', coordinates: [6.959075, 50.442398] },
              address: { streetAddress: 'Große Straße 1', postalCode: '50667', addressCountry: 'DE' },
            },
          ],
        },
      },
    ]);
    const opened = { commissioningDate: '2020-01-11T00:00:00Z' };
    expect(catalogs.flatMap(attributesOf)).toEqual([
      {
        ...opened,
        connectorType: 'Type2',
        connectorDescription: 'AC Typ 2 Steckdose',
        ratedPower: { value: 11, unit: 'kW' },
        evseId: 'DEXYZE1',
      },
      {
        ...opened,
        connectorType: 'Other',
        connectorDescription: 'AC Schuko',
        ratedPower: { value: 3.7, unit: 'kW' },
        evseId: 'DEXYZE1',
      },
      { ...opened, connectorDescription: 'AC Typ 9', ratedPower: { value: 22, unit: 'kW' } },
    ]);
    expect(notes).toContain('row 5: connector.type "AC Typ 9" is not a value of');
    // The same edition in UTF-8 with a byte order mark.
    const marked = await run(['csv', 'bnetza', file('u.csv', `\ufeff${german}`)]);
    expect(marked.catalogs).toEqual(catalogs);
  });

  const german = [
    'Ladesäulenregister;;',
    'Letzte Aktualisierung vom: 01.09.2026;;',
    'Allgemeine Informationen;;1. Ladepunkt',
    'Ladeeinrichtungs-ID;Betreiber;Status;Inbetriebnahmedatum;Straße;Hausnummer;Adresszusatz;Postleitzahl;Ort;Bundesland;Breitengrad;Längengrad;Standortbezeichnung;Steckertypen1;Nennleistung Stecker1;EVSE-ID1;Steckertypen2;Nennleistung Stecker2;EVSE-ID2',
    '1010338;Stadtwerke Köln;In Betrieb;11.01.2020;Große Straße;1;;50667;Köln;NRW;50,442398;6,959075;;"AC Typ 2 Steckdose; AC Schuko";"11; 3,7";DEXYZE1;AC Typ 9;22;',
  ].join('\r\n');

  it('reads the download of the Alternative Fuels Data Center, its electric stations only', async () => {
    const american = [
      'Fuel Type Code,Station Name,Street Address,City,State,ZIP,Status Code,Access Days Time,EV Network,Latitude,Longitude,ID,EV Connector Types,Country,Access Code,Open Date,EV DC Fast Count',
      'ELEC,City Hall,1 Main St,Lacey,WA,98503,E,24 hours daily,ChargePoint Network,47.04,-122.8,33351,J1772 CHADEMO,US,public,2018-01-15,1',
      'LPG,Gas,2 Main St,Lacey,WA,98503,E,,,47.04,-122.8,33352,,US,public,2018-01-15',
    ].join('\n');
    const { catalogs, exitCode, notes } = await run(['csv', 'afdc', '-'], american);
    expect(exitCode).toBe(0);
    expect(catalogs).toMatchObject([{ id: 'US*AFDC*33351', descriptor: { shortDesc: '24 hours daily' } }]);
    expect(catalogs.flatMap(attributesOf)).toMatchObject([
      { connectorType: 'Type1', access: 'public' },
      { connectorType: 'CHAdeMO' },
    ]);
    expect(notes).toContain('row 3: Fuel Type Code "LPG" is not what the mapping expects');
    expect(notes).toContain(
      'columns: "EV DC Fast Count" (not imported, because the mapping ignores everything',
    );
  });

  it.each([
    [
      'a mapping that is not there',
      ['csv', 'nowhere.yaml', 'examples/stations.csv'],
      'There is no file nowhere.yaml',
    ],
    ['a list that is not there', ['csv', 'stations', 'nowhere.csv'], 'There is no file nowhere.csv'],
    ['a list without columns', ['csv', 'stations', 'LICENSE'], 'has no header of several columns'],
    ['an empty list', ['csv', 'stations', '-'], '- has no header of several columns'],
    ['an empty document', ['ocpi', '-'], '- is not accepted as JSON: empty: JSON expected'],
    [
      'a list without the header',
      ['csv', 'bnetza', 'examples/stations.csv'],
      'begins with "Ladeeinrichtungs-ID"',
    ],
  ])('says in a sentence what is wrong with %s', async (_, args, message) => {
    const { exitCode, notes } = await run(args);
    expect(exitCode).toBe(1);
    expect(notes).toContain(message);
  });

  it('says what is wrong with a mapping, a broken list, or another encoding', async () => {
    const mapping = file('m.yaml', 'operator: { id: a, name: b }\nstation: { id: "{id", town: c }');
    expect((await run(['csv', mapping, 'examples/stations.csv'])).notes).toContain(
      'station.town is not allowed',
    );
    const yaml = file('y.yaml', 'operator: [');
    expect((await run(['csv', yaml, 'examples/stations.csv'])).notes).toContain('cannot be read');
    const levels = [1, 2, 3, 4].map((level) => `a${level}: &a${level} [${`*a${level - 1},`.repeat(9)}]`);
    const bomb = file('bomb.yaml', ['a0: &a0 [x]', ...levels].join('\n'));
    expect((await run(['csv', bomb, 'examples/stations.csv'])).notes).toMatch(/cannot be read: .*alias/);
    const open = await run(['csv', 'stations', '-'], 'id,operator\nS1,"Voltpath');
    expect(open.notes).toMatch(/- cannot be read as CSV at line \d: /);
    const latin = await run([
      'csv',
      'stations',
      file('l.csv', Buffer.from('id,operator\nS1,K\u00f6ln', 'latin1')),
    ]);
    expect(latin.notes).toContain('is not written in utf-8');
  });

  it('writes nothing and exits with 1 when nothing can be made of the list', async () => {
    const { exitCode, out, notes } = await run(['csv', 'stations', '-'], 'id,operator\n,Voltpath');
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' });
    expect(notes).toContain('Nothing could be imported.');
  });
});

it('the mapping in the documentation is a sound one', () => {
  const text = readFileSync('docs/importing.md', 'utf8');
  const [, mapping = ''] = /^```yaml\n(file:[\s\S]*?)^```/m.exec(text) ?? [];
  expect(parseMapping(parseYaml(mapping)).columns.size).toBeGreaterThan(10);
});
