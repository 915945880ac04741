import { describe, expect, it } from 'vitest';
import { checkDiscoverMessage } from '../../protocol/discover-messages.ts';
import { buildMessage, collectTargets, parseDistance, parsePlace } from './intent.ts';

describe('what a person types becomes an intent', () => {
  it('words, a place and a condition together', () => {
    const message = buildMessage(['fast', 'charger'], {
      near: parsePlace('12.97, 77.59'),
      within: parseDistance('5km'),
      where: '@.id == "x"',
      limit: 5,
    });
    expect(message).toEqual({
      intent: {
        textSearch: 'fast charger',
        filters: { type: 'jsonpath', expression: '$.catalogs[*].resources[?@.id == "x"]' },
        spatial: [
          {
            op: 'S_DWITHIN',
            targets: [
              '$.catalogs[*].provider.availableAt[*].geo',
              '$.catalogs[*].resources[*].resourceAttributes.attributes.location.geo',
            ],
            geometry: { type: 'Point', coordinates: [77.59, 12.97] },
            distanceMeters: 5000,
          },
        ],
      },
      limit: 5,
    });
    expect(() => checkDiscoverMessage(message)).not.toThrow();
  });

  it('a place alone means five kilometres around it, at the target that is given', () => {
    const target = '$.catalogs[*].offers[*].offerAttributes.area';
    const { intent } = buildMessage([], { near: parsePlace('-33.9,18.4'), target: collectTargets(target) });
    expect(intent.spatial).toMatchObject([{ targets: target, distanceMeters: 5000 }]);
  });

  it('a whole expression stays as it is, also in the form of PostgreSQL', () => {
    const where = '$.catalogs[*].resources[*] ? (@.a > 5)';
    expect(buildMessage([], { where }).intent.filters?.expression).toBe(where);
  });

  it.each([
    ['nothing', {}, 'Say what to look for'],
    ['a distance without a place', { within: 5 }, '--within needs --near'],
    ['a target without a place', { target: ['$.x'] }, '--target needs --near'],
  ])('refuses %s', (_, options, message) => {
    expect(() => buildMessage([' '], options)).toThrow(message);
  });
});

describe('distances and places', () => {
  it.each([
    ['800m', 800],
    ['5km', 5000],
    ['1.5 km', 1500],
    ['2mi', 3218.688],
    ['250', 250],
  ])('%s', (text, meters) => expect(parseDistance(text)).toBeCloseTo(meters));

  it.each(['', 'near', '-5km', '5 parsecs', '1e3', 'Infinitykm'])('"%s" is no distance', (text) => {
    expect(() => parseDistance(text)).toThrow('Use a distance');
  });

  it.each(['12.97', '91,0', '0,181', 'a,b', '1,2,3', '12,97;77'])('"%s" is no place', (text) => {
    expect(() => parsePlace(text)).toThrow('latitude,longitude');
  });
});

describe('a condition on the price', () => {
  it('selects what the offers cover that have it', () => {
    const { intent } = buildMessage([], { where: 'price.energy <= 0.5 EUR && price.session == 0' });
    expect(intent.filters?.expression).toBe(
      '$.catalogs[*].offers[?@.considerations[?@.considerationAttributes.type == "ENERGY" && ' +
        '@.considerationAttributes.value <= 0.5 && @.considerationAttributes.currency == "EUR"] && ' +
        '@.considerations[?@.considerationAttributes.type == "FLAT" && @.considerationAttributes.value == 0]]',
    );
  });

  it('may leave open what the price is for', () => {
    const { intent } = buildMessage([], { where: 'price <= 17 INR' });
    expect(intent.filters?.expression).toBe(
      '$.catalogs[*].offers[?@.considerations[?@.considerationAttributes.value <= 17 && @.considerationAttributes.currency == "INR"]]',
    );
  });

  it.each(['price.beer <= 2 EUR', 'price about 2'])(
    'is refused for %s, with the kinds that there are',
    (where) => {
      expect(() => buildMessage([], { where })).toThrow('Kinds: energy, time, parking, session');
    },
  );

  it('is refused beside a condition on the resource', () => {
    const where = 'price.energy <= 0.5 && @.id == "x"';
    expect(() => buildMessage([], { where })).toThrow('is not a condition on a price');
  });
});
