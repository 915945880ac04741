import { describe, expect, it } from 'vitest';
import { sampleContext, sampleNow } from '../../tests/support/catalogs/sample-messages.ts';
import { changed } from '../../tests/support/values/changed.ts';
import { actions } from './actions.ts';
import { spatialConstraints, spatialOperators } from './discover-messages.ts';
import { parseEnvelope } from './envelope.ts';
import type { Segments } from './fault.ts';
import { jsonPath } from './json.ts';

const near = {
  op: 'S_DWITHIN',
  targets: '$.catalogs[*].provider.availableAt[*].geo',
  geometry: { type: 'Point', coordinates: [77.6, 12.9] },
  distanceMeters: 1000,
};
const sample = {
  intent: {
    textSearch: 'fast charger',
    filters: { type: 'jsonpath', expression: "$.catalogs[*].resources[?@.id == 'a']" },
    spatial: [{ ...near, quantifier: 'ANY', srid: 'EPSG:4326' }],
  },
  limit: 100,
  offset: 0,
};

const discover = (message: unknown) =>
  parseEnvelope({ context: sampleContext(actions.discover), message }, actions.discover, sampleNow).message;
const discovering = (at: Segments, value: unknown) => () => discover(changed(sample, at, value));
const fault = (code: string, at: Segments) =>
  expect.objectContaining({ code, path: jsonPath(['message', ...at]) });
const anEntry = ['intent', 'spatial', 0];

describe('an intent', () => {
  it('may combine text, filter and place', () => {
    expect(discover(sample)).toBe(sample);
  });

  it.each<[string, object]>([
    ['text', { textSearch: 'tea' }],
    ['a filter', { filters: sample.intent.filters }],
    ['a place', { spatial: [near] }],
  ])('may be %s alone', (_what, intent) => {
    expect(() => discover({ intent })).not.toThrow();
  });

  it.each([[{}], [{ spatial: [] }], [{ textSearch: '  ' }], [{ textSearch: '', spatial: [] }]])(
    'that asks for nothing is SCH_REQUIRED_FIELD_MISSING: %j',
    (intent) => {
      expect(() => discover({ intent })).toThrow(fault('SCH_REQUIRED_FIELD_MISSING', ['intent']));
    },
  );

  it('with mediaSearch is NET_NOT_IMPLEMENTED', () => {
    expect(discovering(['intent', 'mediaSearch'], { media: [] })).toThrow(
      fault('NET_NOT_IMPLEMENTED', ['intent', 'mediaSearch']),
    );
  });

  it.each<[string, Segments, unknown]>([
    ['SCH_REQUIRED_FIELD_MISSING', ['intent'], undefined],
    ['SCH_REQUIRED_FIELD_MISSING', ['intent', 'filters', 'type'], undefined],
    ['SCH_REQUIRED_FIELD_MISSING', ['intent', 'filters', 'expression'], undefined],
    ['SCH_REQUIRED_FIELD_MISSING', [...anEntry, 'op'], undefined],
    ['SCH_REQUIRED_FIELD_MISSING', [...anEntry, 'targets'], undefined],
    ['SCH_REQUIRED_FIELD_MISSING', [...anEntry, 'geometry'], undefined],
    ['SCH_REQUIRED_FIELD_MISSING', [...anEntry, 'distanceMeters'], undefined],
    ['SCH_INVALID_ENUM', ['intent', 'filters', 'type'], 'JSONPATH'],
    ['SCH_INVALID_ENUM', [...anEntry, 'op'], 'S_NEAR'],
    ['SCH_INVALID_ENUM', [...anEntry, 'quantifier'], 'SOME'],
    ['SCH_INVALID_ENUM', [...anEntry, 'srid'], 'EPSG:3857'],
    ['SCH_INVALID_ENUM', [...anEntry, 'geometry', 'type'], 'Circle'],
    ['SCH_FIELD_NOT_ALLOWED', ['surprise'], 1],
    ['SCH_FIELD_NOT_ALLOWED', ['intent', 'surprise'], 1],
    ['SCH_FIELD_NOT_ALLOWED', ['intent', 'filters', 'surprise'], 1],
    ['SCH_FIELD_NOT_ALLOWED', [...anEntry, 'surprise'], 1],
    ['SCH_SCHEMA_VALIDATION_FAILED', ['intent', 'textSearch'], 7],
    ['SCH_SCHEMA_VALIDATION_FAILED', ['intent', 'spatial'], {}],
    ['SCH_SCHEMA_VALIDATION_FAILED', [...anEntry, 'op'], 7],
    ['SCH_SCHEMA_VALIDATION_FAILED', [...anEntry, 'targets'], 7],
    ['SCH_SCHEMA_VALIDATION_FAILED', [...anEntry, 'targets'], []],
    ['SCH_SCHEMA_VALIDATION_FAILED', [...anEntry, 'distanceMeters'], -1],
    ['SCH_SCHEMA_VALIDATION_FAILED', [...anEntry, 'distanceMeters'], '1000'],
    ['SCH_SCHEMA_VALIDATION_FAILED', [...anEntry, 'geometry', 'coordinates', 0], 181],
    ['SCH_SCHEMA_VALIDATION_FAILED', [...anEntry, 'geometry', 'coordinates', 1], -91],
    ['SCH_SCHEMA_VALIDATION_FAILED', [...anEntry, 'operation'], 'S_WITHIN'],
    ['SCH_SCHEMA_VALIDATION_FAILED', ['limit'], 0],
    ['SCH_SCHEMA_VALIDATION_FAILED', ['limit'], 1001],
    ['SCH_SCHEMA_VALIDATION_FAILED', ['offset'], -1],
  ])('%s at %j: %j', (code, at, value) => {
    expect(discovering(at, value)).toThrow(fault(code, at));
  });
});

describe('the targets of a spatial entry', () => {
  it('are texts: SCH_SCHEMA_VALIDATION_FAILED with the path of the one that is none', () => {
    expect(discovering([...anEntry, 'targets'], ['$.a', 7])).toThrow(
      fault('SCH_SCHEMA_VALIDATION_FAILED', [...anEntry, 'targets', 1]),
    );
  });
});

describe('spatial constraints', () => {
  const read = (...spatial: object[]) => spatialConstraints(discover({ intent: { spatial } }).intent);

  it('settle the spellings of a spatial entry', () => {
    const { op: _, ...rest } = near;
    expect(read({ ...rest, operation: 's_dwithin', quantifier: 'none', targets: ['$.a', '$.b'] })).toEqual([
      {
        operator: 'S_DWITHIN',
        quantifier: 'NONE',
        targets: ['$.a', '$.b'],
        geometry: near.geometry,
        distanceMeters: 1000,
      },
    ]);
  });

  it('take op and operation when they agree', () => {
    expect(read({ ...near, operation: 's_dwithin' })).toHaveLength(1);
  });

  it('know every operator in any case, and leave out the distance of those that have none', () => {
    for (const operator of spatialOperators) {
      const [constraint] = read({ ...near, op: operator.toLowerCase() });
      expect(constraint?.operator).toBe(operator);
      expect(constraint?.quantifier).toBe('ANY');
      expect(constraint?.targets).toEqual([near.targets]);
      expect(constraint && 'distanceMeters' in constraint).toBe(operator === 'S_DWITHIN');
    }
  });
});

describe('on_discover', () => {
  const catalog = {
    id: 'c',
    descriptor: {},
    provider: { id: 'p', descriptor: { name: 'P' } },
    resources: [{ id: 'r' }],
  };
  const receive = (message: unknown) =>
    parseEnvelope(
      { context: sampleContext(actions.onDiscover), message, extra: 1 },
      actions.onDiscover,
      sampleNow,
    );

  it('is open everywhere', () => {
    expect(() => receive({ catalogs: [{ ...catalog, surprise: 1 }], surprise: 1 })).not.toThrow();
  });

  it('never brings an empty list', () => {
    expect(() => receive({ catalogs: [] })).toThrow(fault('SCH_SCHEMA_VALIDATION_FAILED', ['catalogs']));
  });
});
