import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import type { Actor } from '../../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { comb, star } from '../../support/values/costly-geometries.ts';

// A wrong intent is refused with one code and the path of the fault (catalog spec: POST /discover, Error codes).

let network: TestNetwork;
let consumer: Actor;

beforeAll(async () => {
  network = await startNetwork({ settings: { DISCOVER_TIMEOUT_MS: '60000' } });
  consumer = await network.actor('shopper');
});
afterAll(() => network.close());

const near = {
  op: 'S_DWITHIN',
  targets: '$.catalogs[*].provider.availableAt[*].geo',
  geometry: { type: 'Point', coordinates: [77.59, 12.97] },
  distanceMeters: 1000,
};
const place = (changes: object) => ({ spatial: [near, { ...near, ...changes }] });
const filter = (expression: string) => ({ filters: { type: 'jsonpath', expression } });
const ring = (...coordinates: number[][]) => ({ type: 'Polygon', coordinates: [coordinates] });

const expression = '$.message.intent.filters.expression';
const entry = '$.message.intent.spatial[1]';

describe('discover refuses', () => {
  it.each<[string, object, { code: string; path: string }]>([
    ['an empty intent', {}, { code: 'SCH_REQUIRED_FIELD_MISSING', path: '$.message.intent' }],
    [
      'an intent of nothing but spaces',
      { textSearch: ' \t', spatial: [] },
      { code: 'SCH_REQUIRED_FIELD_MISSING', path: '$.message.intent' },
    ],
    [
      'mediaSearch, alone',
      { mediaSearch: { media: [] } },
      { code: 'NET_NOT_IMPLEMENTED', path: '$.message.intent.mediaSearch' },
    ],
    [
      'mediaSearch, beside something else',
      { textSearch: 'tea', mediaSearch: {} },
      { code: 'NET_NOT_IMPLEMENTED', path: '$.message.intent.mediaSearch' },
    ],
    [
      'an expression that ends too early',
      filter('$.catalogs[*].resources[?@.a =='),
      { code: 'SCH_INVALID_JSONPATH', path: expression },
    ],
    ['an empty expression', filter(''), { code: 'SCH_INVALID_JSONPATH', path: expression }],
    [
      'an expression that is not absolute',
      filter('resources[?@.a]'),
      { code: 'SCH_INVALID_JSONPATH', path: expression },
    ],
    [
      'an operator that expressions do not have',
      filter('$.catalogs[*].resources[?@.a ~= 1]'),
      { code: 'SCH_INVALID_JSONPATH', path: expression },
    ],
    [
      'a function that expressions do not have',
      filter('$.catalogs[*].resources[?near(@.a)]'),
      { code: 'SCH_INVALID_JSONPATH', path: expression },
    ],
    [
      'an expression that is nested too deeply',
      filter(`$.catalogs[*].resources[?${'('.repeat(5_000)}@.a${')'.repeat(5_000)}]`),
      { code: 'SCH_INVALID_JSONPATH', path: expression },
    ],
    [
      'another language of expressions',
      { filters: { type: 'cel', expression: '$' } },
      { code: 'SCH_INVALID_ENUM', path: '$.message.intent.filters.type' },
    ],
    ['an unknown operator', place({ op: 'S_NEAR' }), { code: 'SCH_INVALID_ENUM', path: `${entry}.op` }],
    [
      'an unknown quantifier',
      place({ quantifier: 'SOME' }),
      { code: 'SCH_INVALID_ENUM', path: `${entry}.quantifier` },
    ],
    [
      'two operators that contradict each other',
      place({ operation: 'S_WITHIN' }),
      { code: 'SCH_SCHEMA_VALIDATION_FAILED', path: `${entry}.operation` },
    ],
    [
      'another reference system',
      place({ srid: 'EPSG:3857' }),
      { code: 'SCH_INVALID_ENUM', path: `${entry}.srid` },
    ],
    [
      'a geometry of an unknown type',
      place({ geometry: { type: 'Circle', coordinates: [1, 2] } }),
      { code: 'SCH_INVALID_ENUM', path: `${entry}.geometry.type` },
    ],
    [
      'a geometry without coordinates',
      place({ geometry: { type: 'Point' } }),
      { code: 'SCH_REQUIRED_FIELD_MISSING', path: `${entry}.geometry.coordinates` },
    ],
    [
      'a ring that crosses itself more than 100 times',
      place({ geometry: star(17) }),
      { code: 'SCH_SCHEMA_VALIDATION_FAILED', path: `${entry}.geometry.coordinates[0]` },
    ],
    [
      'a large ring that crosses itself more than 100 times, in a collection',
      place({ geometry: { type: 'GeometryCollection', geometries: [near.geometry, star(2_001)] } }),
      { code: 'SCH_SCHEMA_VALIDATION_FAILED', path: `${entry}.geometry.geometries[1].coordinates[0]` },
    ],
    [
      'a geometry of more than 50,000 vertices',
      place({ geometry: comb(12_500) }),
      { code: 'SCH_SCHEMA_VALIDATION_FAILED', path: `${entry}.geometry` },
    ],
    [
      'a ring that is not closed',
      place({ geometry: ring([0, 0], [1, 0], [1, 1], [0, 1]) }),
      { code: 'SCH_SCHEMA_VALIDATION_FAILED', path: `${entry}.geometry.coordinates[0]` },
    ],
    [
      'a ring of too few positions',
      place({ geometry: ring([0, 0], [1, 0], [0, 0]) }),
      { code: 'SCH_SCHEMA_VALIDATION_FAILED', path: `${entry}.geometry.coordinates[0]` },
    ],
    [
      'a longitude beyond 180',
      place({ geometry: { type: 'Point', coordinates: [181, 0] } }),
      { code: 'SCH_SCHEMA_VALIDATION_FAILED', path: `${entry}.geometry.coordinates[0]` },
    ],
    [
      'a latitude beyond 90, as when the two are swapped',
      place({ geometry: { type: 'Point', coordinates: [12.97, 177.59] } }),
      { code: 'SCH_SCHEMA_VALIDATION_FAILED', path: `${entry}.geometry.coordinates[1]` },
    ],
    [
      'coordinates that are texts',
      place({ geometry: { type: 'Point', coordinates: ['77.59', '12.97'] } }),
      { code: 'SCH_SCHEMA_VALIDATION_FAILED', path: `${entry}.geometry.coordinates[0]` },
    ],
    [
      'a negative distance',
      place({ distanceMeters: -1 }),
      { code: 'SCH_SCHEMA_VALIDATION_FAILED', path: `${entry}.distanceMeters` },
    ],
    [
      'S_DWITHIN without a distance',
      place({ distanceMeters: undefined }),
      { code: 'SCH_REQUIRED_FIELD_MISSING', path: `${entry}.distanceMeters` },
    ],
  ])('%s', async (_, intent, { code, path }) => {
    const answer = await consumer.send(actions.discover, { intent }, { to: network.discoveryUrl });
    expect(answer).toMatchObject({
      status: 400,
      answerSigned: true,
      body: { message: { status: 'NACK', messageId: answer.messageId, error: { code, details: { path } } } },
    });
    expect(answer.body.message.error.message).toMatch(/\w/);
  });

  it.each([
    ['limit', 0],
    ['limit', 1001],
    ['offset', -1],
  ])('a %s of %i', async (member, value) => {
    const message = { intent: { textSearch: 'tea' }, [member]: value };
    const answer = await consumer.send(actions.discover, message, { to: network.discoveryUrl });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        message: {
          error: { code: 'SCH_SCHEMA_VALIDATION_FAILED', details: { path: `$.message.${member}` } },
        },
      },
    });
  });
});
