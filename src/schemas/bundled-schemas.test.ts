import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAttributeChecker } from '../rules/typed-attributes.ts';
import { bundledSchemas, loadSchemas } from './schema-files.ts';

// Valid and invalid values of the two bundled schemas, member by member. Longer than our other tests, as they have many members.

const checker = createAttributeChecker({ schemas: await loadSchemas(bundledSchemas) });

const evCharger = {
  '@context': 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld',
  '@type': 'EnergyResourceEVCharger',
};
const energyResource = {
  '@context': 'https://schema.nfh.global/EnergyResource/v1.1/context.jsonld',
  '@type': 'EnergyResource',
};

type Members = Record<string, unknown>;

/** Paths of the faults, below the attributes object. */
function faults(attributes: Members, partial = false): (string | undefined)[] {
  const found = checker.check(attributes, { partial });
  expect(found.every(({ code }) => code === 'SCH_SCHEMA_VALIDATION_FAILED')).toBe(true);
  return found.map(({ details }) => details?.path);
}

function charger(members: Members): Members {
  return { ...evCharger, id: 'c1', type: 'EV_CHARGER', ...members };
}

function v2g(attributes: Members): Members {
  return { ...evCharger, id: 'c1', type: 'EV_V2G', attributes };
}

describe('the bundled schemas', () => {
  it('are the EV charger and the common energy resource v1.1, and can be used', () => {
    expect(checker.problems).toEqual([]);
    expect(checker.types.map(({ type }) => type).sort()).toEqual([
      'EnergyResource',
      'EnergyResourceEVCharger',
    ]);
  });

  const examples = readdirSync(bundledSchemas, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /examples.+\.json$/.test(name),
  );

  it.each(examples)('%s conforms', (name) => {
    const example = JSON.parse(readFileSync(join(bundledSchemas, name), 'utf8'));
    expect(checker.check(example)).toEqual([]);
  });
});

// self-hosted spec: EV charger resource type
describe('EnergyResourceEVCharger', () => {
  it('requires id and type', () => {
    expect(faults({ ...evCharger })).toEqual(['$.id', '$.type']);
    expect(faults({ ...evCharger, id: 'c1' })).toEqual(['$.type']);
    expect(faults({ ...evCharger, type: 'EV_V2G' })).toEqual(['$.id']);
  });

  it('requires neither id nor type in a template', () => {
    expect(faults({ ...evCharger, attributes: { connectorType: 'CCS2' } }, true)).toEqual([]);
  });

  it('has a text as id', () => {
    expect(faults(charger({ id: 1 }))).toEqual(['$.id']);
  });

  it.each(['EV_CHARGER', 'EV_V2G'])('knows the type %s', (type) => {
    expect(faults(charger({ type }))).toEqual([]);
  });

  it.each(['EV', 'ev_charger', 'BESS', 1, null])('refuses the type %j', (type) => {
    expect(faults(charger({ type })).includes('$.type')).toBe(true);
  });

  it('needs no attributes, and lets additional ones pass', () => {
    expect(faults(charger({}))).toEqual([]);
    expect(faults(charger({ attributes: { parkingBay: 'B4' }, note: 'new' }))).toEqual([]);
    expect(faults(charger({ attributes: [] }))).toEqual(['$.attributes']);
  });

  const enums = {
    connectorType: ['Type1', 'Type2', 'CCS1', 'CCS2', 'CHAdeMO', 'GB_T', 'NACS', 'Other'],
    controlProtocol: ['OCPP_1.6', 'OCPP_2.0.1', 'OCPP_2.1', 'ISO_15118_2', 'ISO_15118_20', 'Other'],
    v2xProtocol: ['CHAdeMO_V2G', 'CCS_BPT', 'ISO_15118_20_AC_BPT', 'ISO_15118_20_DC_BPT', 'Other'],
  };

  describe.each(Object.entries(enums))('%s', (name, values) => {
    it.each(values)('may be %s', (value) => {
      expect(faults(v2g({ [name]: value }))).toEqual([]);
    });

    it.each(['Type9', values[0]?.toLowerCase(), '', 1, null, [values[0]]])('may not be %j', (value) => {
      expect(faults(v2g({ [name]: value }))).toEqual([`$.attributes.${name}`]);
      expect(faults(v2g({ [name]: value }), true)).toEqual([`$.attributes.${name}`]);
    });
  });

  it('has a v2xProtocol only on EV_V2G', () => {
    expect(faults(v2g({ v2xProtocol: 'CCS_BPT' }))).toEqual([]);
    expect(faults(charger({ attributes: { v2xProtocol: 'CCS_BPT' } }))).toEqual(['$.attributes.v2xProtocol']);
    expect(faults(charger({ attributes: { v2xProtocol: 'CCS_BPT' } }), true)).toEqual([
      '$.attributes.v2xProtocol',
    ]);
  });

  it('lets a template without a type have a v2xProtocol: whoever extends it says what it is', () => {
    expect(faults({ ...evCharger, attributes: { v2xProtocol: 'CCS_BPT' } }, true)).toEqual([]);
  });

  it('names the faults of the common energy resource with their path', () => {
    expect(faults(charger({ attributes: { maxImport: { value: -7, unit: 'kW' } } }))).toEqual([
      '$.attributes.maxImport.value',
    ]);
  });

  it('reports everything that is wrong at once', () => {
    const wrong = { connectorType: 'Type9', controlProtocol: 'None', ratedPower: { value: 1, unit: 'PS' } };
    expect(faults(charger({ id: undefined, attributes: wrong })).sort()).toEqual([
      '$.attributes.connectorType',
      '$.attributes.controlProtocol',
      '$.attributes.ratedPower.unit',
      '$.id',
    ]);
  });
});

describe('EnergyResource', () => {
  const resource = (members: Members) => ({ ...energyResource, ...members });
  const withAttribute = (name: string, value: unknown) => resource({ attributes: { [name]: value } });

  it('requires nothing and is open', () => {
    expect(faults(resource({}))).toEqual([]);
    expect(faults(resource({ type: 'ANYTHING', extra: 1, attributes: { extra: 1 } }))).toEqual([]);
  });

  it('has parts by id or written out, and parents by id', () => {
    expect(
      faults(resource({ subResources: ['a', { id: 'b', subResources: [] }], parentResources: ['p'] })),
    ).toEqual([]);
    expect(faults(resource({ subResources: [7] }))).toEqual(['$.subResources[0]']);
    expect(faults(resource({ subResources: 'a' }))).toEqual(['$.subResources']);
    expect(faults(resource({ parentResources: [{ id: 'p' }] }))).toEqual(['$.parentResources[0]']);
    expect(
      faults(resource({ subResources: ['a', { subResources: [{ attributes: { serialNumber: '' } }] }] })),
    ).toEqual(['$.subResources[1].subResources[0].attributes.serialNumber']);
  });

  it.each(['id', 'type'])('has a text as %s', (name) => {
    expect(faults(resource({ [name]: 1 }))).toEqual([`$.${name}`]);
  });

  it.each(['make', 'model', 'telemetryProvider', 'serialNumber'])('has a text as %s', (name) => {
    expect(faults(withAttribute(name, 'text'))).toEqual([]);
    expect(faults(withAttribute(name, 1))).toEqual([`$.attributes.${name}`]);
  });

  it('has no empty serialNumber', () => {
    expect(faults(withAttribute('serialNumber', ''))).toEqual(['$.attributes.serialNumber']);
  });

  it.each(['2025-03-14T09:00:00Z', '2025-03-14T09:00:00.5+05:30'])('was commissioned at %s', (value) => {
    expect(faults(withAttribute('commissioningDate', value))).toEqual([]);
  });

  it.each(['2025-03-14', 'yesterday', '2025-02-30T00:00:00Z', 1741942800])(
    'was not commissioned at %j',
    (value) => {
      expect(faults(withAttribute('commissioningDate', value))).toEqual(['$.attributes.commissioningDate']);
    },
  );

  describe.each(['ratedPower', 'maxExport', 'maxImport'])('%s', (name) => {
    it.each(['W', 'kW', 'MW'])('may be in %s, and zero', (unit) => {
      expect(faults(withAttribute(name, { value: 0, unit }))).toEqual([]);
      expect(faults(withAttribute(name, { value: 7.4, unit }))).toEqual([]);
    });

    it.each([
      ['negative', { value: -0.1, unit: 'kW' }, 'value'],
      ['a text', { value: '7', unit: 'kW' }, 'value'],
      ['without value', { unit: 'kW' }, 'value'],
      ['without unit', { value: 7 }, 'unit'],
      ['in another unit', { value: 7, unit: 'KW' }, 'unit'],
      ['with more members', { value: 7, unit: 'kW', phase: 3 }, 'phase'],
    ])('is not %s', (_, value, culprit) => {
      expect(faults(withAttribute(name, value))).toEqual([`$.attributes.${name}.${culprit}`]);
    });

    it('is not a bare number', () => {
      expect(faults(withAttribute(name, 7))).toEqual([`$.attributes.${name}`]);
    });

    it('may be incomplete in a template, but not wrong', () => {
      expect(faults(withAttribute(name, { unit: 'kW' }), true)).toEqual([]);
      expect(faults(withAttribute(name, { value: -1 }), true)).toEqual([`$.attributes.${name}.value`]);
    });
  });

  describe('location', () => {
    const at = (geo: unknown) => withAttribute('location', { geo });
    const point = { type: 'Point', coordinates: [-0.1, 51.5] };

    it('has a geo and may have an address', () => {
      expect(faults(at(point))).toEqual([]);
      expect(faults(withAttribute('location', { geo: point, address: { addressCountry: 'GB' } }))).toEqual(
        [],
      );
      expect(faults(withAttribute('location', { geo: point, address: 'Cockspur Court' }))).toEqual([]);
      expect(faults(withAttribute('location', { geo: point, address: 7 }))).toEqual([
        '$.attributes.location.address',
      ]);
      expect(faults(withAttribute('location', { address: {} }))).toEqual(['$.attributes.location.geo']);
    });

    const ring = [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 0],
    ];

    it.each([
      { type: 'Point', coordinates: [180, -90, 12] },
      { type: 'MultiPoint', coordinates: [[0, 0]] },
      { type: 'LineString', coordinates: ring },
      { type: 'MultiLineString', coordinates: [ring] },
      { type: 'Polygon', coordinates: [ring] },
      { type: 'MultiPolygon', coordinates: [[ring]] },
      { type: 'GeometryCollection', geometries: [point, { type: 'GeometryCollection', geometries: [] }] },
    ])('may be a $type', (geo) => {
      expect(faults(at(geo))).toEqual([]);
    });

    it.each([
      [{ type: 'Circle', coordinates: [0, 0] }, '.type'],
      [{ coordinates: [0, 0] }, '.type'],
      [{ type: 'Point' }, '.coordinates'],
      [{ type: 'Point', coordinates: [0] }, '.coordinates'],
      [{ type: 'Point', coordinates: [181, 0] }, '.coordinates[0]'],
      [{ type: 'Point', coordinates: [0, -91] }, '.coordinates[1]'],
      [{ type: 'Point', coordinates: ['0', 0] }, '.coordinates[0]'],
      [{ type: 'MultiPoint', coordinates: [0, 0] }, '.coordinates[0]'],
      [{ type: 'LineString', coordinates: [[0, 0]] }, '.coordinates'],
      [{ type: 'MultiLineString', coordinates: [[[0, 0]]] }, '.coordinates[0]'],
      [{ type: 'Polygon', coordinates: [ring.slice(1)] }, '.coordinates[0]'],
      [{ type: 'MultiPolygon', coordinates: [[ring.slice(1)]] }, '.coordinates[0][0]'],
      [{ type: 'GeometryCollection' }, '.geometries'],
      [{ type: 'GeometryCollection', geometries: [{ type: 'Point' }] }, '.geometries[0].coordinates'],
    ])('may not be %j', (geo, path) => {
      expect(faults(at(geo))[0]).toBe(`$.attributes.location.geo${path}`);
    });
  });

  describe('inspection', () => {
    it.each(['pass', 'fail', 'conditional'])('may have the result %s', (result) => {
      expect(faults(withAttribute('inspection', { date: '2025-03-12', result, inspectorId: 'i' }))).toEqual(
        [],
      );
    });

    it('may give its date as a day or an instant, or nothing at all', () => {
      expect(faults(withAttribute('inspection', { date: '2025-03-12' }))).toEqual([]);
      expect(faults(withAttribute('inspection', { date: '2025-03-12T10:00:00Z' }))).toEqual([]);
      expect(faults(withAttribute('inspection', {}))).toEqual([]);
    });

    it.each([
      [{ date: 'in March' }, 'date'],
      [{ date: 7 }, 'date'],
      [{ result: 'passed' }, 'result'],
      [{ inspectorId: 7 }, 'inspectorId'],
      [{ remark: 'none' }, 'remark'],
    ])('may not be %j', (inspection, culprit) => {
      expect(faults(withAttribute('inspection', inspection))).toEqual([`$.attributes.inspection.${culprit}`]);
    });
  });

  describe('aggregator', () => {
    it('has an address, a name, whether it controls, and since when', () => {
      const aggregator = {
        id: 'https://aggregator.example.org/fleet',
        name: 'Fleet',
        controllable: false,
        enrolledOn: '2025-06-01',
      };
      expect(faults(withAttribute('aggregator', aggregator))).toEqual([]);
      expect(faults(withAttribute('aggregator', {}))).toEqual([]);
    });

    it.each([
      [{ id: 'fleet' }, 'id'],
      [{ name: 7 }, 'name'],
      [{ controllable: 'yes' }, 'controllable'],
      [{ enrolledOn: '2025-06-01T00:00:00Z' }, 'enrolledOn'],
      [{ enrolledOn: '2025-02-30' }, 'enrolledOn'],
      [{ contract: 'c' }, 'contract'],
    ])('may not be %j', (aggregator, culprit) => {
      expect(faults(withAttribute('aggregator', aggregator))).toEqual([`$.attributes.aggregator.${culprit}`]);
    });
  });
});
