import { describe, expect, it } from 'vitest';
import type { ReceivedCatalog } from '../../protocol/catalog.ts';
import { metersBetween } from '../../rules/hit.ts';
import { plain } from '../colour.ts';
import { renderFound } from './report.ts';

const near = { latitude: 12.97, longitude: 77.59 };
const price = (value: unknown, currency = 'INR') => ({
  id: 'c',
  considerationAttributes: { '@context': 'https://x', '@type': 'X', value, currency },
});

const catalog: ReceivedCatalog = {
  id: 'c1',
  bppId: 'voltpath.example',
  descriptor: { name: 'Indiranagar' },
  provider: {
    id: 'p',
    descriptor: { name: 'Voltpath' },
    availableAt: [{ geo: { type: 'Point', coordinates: [77.6, 12.97] } }],
  },
  resources: [{ id: 'r1', descriptor: { name: 'Bay 1:\n fast' } }, { id: 'r2' }],
  offers: [
    { id: 'o1', resourceIds: ['r1'], considerations: [price(18), price('12.5')] },
    { id: 'o2', considerations: [price(20), price(3, 'USD'), price('free')] },
  ],
};

describe('what was found', () => {
  it('is a table of names, providers, distances, lowest prices, catalogs and the nodes that publish them', () => {
    expect(plain(renderFound({ catalogs: [catalog] }, near))).toBe(
      [
        'NAME         PROVIDER  DISTANCE  PRICE                 CATALOG      NODE',
        'Bay 1: fast  Voltpath  1.1 km    from 12.5 INR, 3 USD  Indiranagar  voltpath.example',
        'r2           Voltpath  1.1 km    20 INR, 3 USD         Indiranagar  voltpath.example',
        '',
        '2 resources of 1 catalog.',
      ].join('\n'),
    );
  });

  it('has no distance where nobody asked for one, and says where there is more', () => {
    const { offers: _offers, bppId: _bppId, ...unpriced } = catalog;
    const text = renderFound(
      { catalogs: [unpriced], pagination: { total: 1200, limit: 2, offset: 10 } },
      undefined,
    );
    expect(plain(text)).toContain('NAME         PROVIDER  PRICE  CATALOG      NODE');
    expect(text).toContain('11 to 12 of 1200 or more. --offset 12 shows the next ones.');
    const last = { total: 12, limit: 2, offset: 10 };
    expect(renderFound({ catalogs: [unpriced], pagination: last }, undefined)).toMatch(/: 11 to 12 of 12\.$/);
  });

  it('is in the order of the ranking, and as far away as that says: 3.6 km comes before 4.1 km', () => {
    // Both owners use the same ids, and both have a point nearer to, or farther from, the place than the matching geometry.
    const owners = ['one.example', 'two.example'].map((bppId) => ({ ...catalog, bppId }));
    const line = { catalogId: 'c1', resourceId: 'r1' };
    const distances = [850, 860, 3_600, 4_100];
    const ranking = distances.map((distanceMeters, index) => ({
      ...{ ...line, resourceId: index % 2 ? 'r2' : 'r1' },
      distanceMeters,
    }));
    const rows = plain(renderFound({ catalogs: owners, ranking }, near))
      .split('\n')
      .slice(1, 5);
    expect(rows.map((row) => /([\d.]+ k?m) .* (\w+)\.example/.exec(row)?.slice(1).join(' '))).toEqual([
      '850 m one',
      '860 m one',
      '3.6 km two',
      '4.1 km two',
    ]);
  });

  it('shows prices with their units, energy first, and leaves reservations aside', () => {
    const of = (type: string, unit: string, value: number, more = {}) => ({
      id: type,
      considerationAttributes: {
        '@context': 'https://x',
        '@type': 'X',
        type,
        unit,
        value,
        currency: 'EUR',
        ...more,
      },
    });
    const considerations = [
      of('FLAT', 'session', 1),
      of('ENERGY', 'kWh', 0.59),
      of('PARKING_TIME', 'h', 4.8, { minValue: 0 }),
      of('RESERVATION_TIME', 'h', 9),
    ];
    const text = plain(
      renderFound({ catalogs: [{ ...catalog, offers: [{ id: 'o', considerations }] }] }, undefined),
    );
    expect(text).toContain('0.59 EUR/kWh, 1 EUR/session, from 0 EUR/h parking');
  });

  it('measures on great circles, also across the date line', () => {
    const [east, west] = [
      { latitude: 0, longitude: 179.5 },
      { latitude: 0, longitude: -179.5 },
    ];
    expect(metersBetween(east, west)).toBeCloseTo(111_195, -1);
    expect(metersBetween(near, near)).toBe(0);
  });
});
