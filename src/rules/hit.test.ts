import { describe, expect, it } from 'vitest';
import type { Offer } from '../protocol/catalog.ts';
import { findAvailability, findDistance, type Hit } from './hit.ts';
import { findLowestPrices, findPrices } from './prices.ts';

const price = (value: unknown, currency?: unknown) => ({
  id: 'c',
  considerationAttributes: { '@context': 'https://x', '@type': 'X', value, currency },
});
const offer = (id: string, rest: Partial<Offer> = {}): Offer => ({ id, ...rest });
const hit = (rest: Partial<Hit> = {}): Hit => ({
  resource: { id: 'r' },
  offers: [],
  ...rest,
  catalog: { id: 'c', descriptor: {}, provider: { id: 'p', descriptor: { name: 'P' } }, ...rest.catalog },
});
const point = (longitude: number, latitude: number) => ({
  geo: { type: 'Point' as const, coordinates: [longitude, latitude] },
});
const noon = new Date('2026-06-01T12:00:00Z');

describe('the prices of a hit', () => {
  const offers = [
    offer('day', { considerations: [price(18, 'INR'), price('12.5', 'INR')] }),
    offer('night', {
      considerations: [price(14, 'INR'), price(3, 'USD'), price('free', 'INR'), price(null)],
    }),
  ];

  it('are the numbers of its considerations, also where they are written as texts', () => {
    expect(findPrices(offers).map(({ value, offerId }) => [value, offerId])).toEqual([
      [18, 'day'],
      [12.5, 'day'],
      [14, 'night'],
      [3, 'night'],
    ]);
  });

  it('are compared within a currency only', () => {
    expect(findLowestPrices(offers)).toEqual([
      { value: 12.5, currency: 'INR', unit: '', offerId: 'day' },
      { value: 3, currency: 'USD', unit: '', offerId: 'night' },
    ]);
    expect(findLowestPrices([offer('bare', { considerations: [price(1)] })])).toMatchObject([
      { currency: '' },
    ]);
  });
});

describe('the availability of a hit', () => {
  const day = offer('day', { validity: { startTime: '06:00:00Z', endTime: '22:00:00Z' } });
  const night = offer('night', { validity: { startTime: '22:00:00Z', endTime: '06:00:00Z' } });

  it('is that of the offers which apply at the time', () => {
    expect(findAvailability(hit({ offers: [day, night] }), noon)).toEqual({
      state: 'available',
      offers: [day],
    });
    expect(findAvailability(hit({ offers: [night] }), noon)).toMatchObject({
      state: 'unavailable',
      offers: [],
    });
  });

  it('is unknown where the answer has no offer', () => {
    expect(findAvailability(hit(), noon).state).toBe('unknown');
  });

  it.each([
    ['is paused', { isActive: false }],
    ['has ended', { validity: { endDate: '2026-05-31' } }],
  ])('ends where the catalog %s', (_, members) => {
    const { catalog } = hit();
    expect(findAvailability(hit({ offers: [day], catalog: { ...catalog, ...members } }), noon).state).toBe(
      'unavailable',
    );
  });
});

describe('the distance of a hit', () => {
  const from = { latitude: 0, longitude: 0 };
  const catalog = {
    ...hit().catalog,
    provider: { id: 'p', descriptor: { name: 'P' }, availableAt: [point(0, 2), point(0, 1)] },
  };

  it('is that of the nearest point of its provider', () => {
    expect(findDistance(hit({ catalog }), from)).toBeCloseTo(111_195, -1);
  });

  it('is that of its own place, where it has one', () => {
    const resourceAttributes = {
      '@context': 'https://x',
      '@type': 'X',
      attributes: { location: point(0, 3) },
    };
    expect(findDistance(hit({ catalog, resource: { id: 'r', resourceAttributes } }), from)).toBeCloseTo(
      333_585,
      -1,
    );
  });

  it('ignores points that are not on Earth, whose distance may be no number', () => {
    const bengaluru = { latitude: 12.978, longitude: 77.57 };
    const availableAt = [point(77.57 - 180, 180 - 12.978), point(0, 1e300), point(181, 0)];
    const odd = { ...catalog, provider: { ...catalog.provider, availableAt } };
    expect(findDistance(hit({ catalog: odd }), bengaluru)).toBeUndefined();
  });

  it('is found among very many points', () => {
    const availableAt = Array.from({ length: 200_000 }, () => point(0, 4));
    const far = { ...catalog, provider: { ...catalog.provider, availableAt } };
    expect(findDistance(hit({ catalog: far }), from)).toBeCloseTo(444_780, -1);
  });

  it('is not known where nothing names a point', () => {
    expect(findDistance(hit(), from)).toBeUndefined();
  });
});
