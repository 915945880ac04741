import { describe, expect, it } from 'vitest';
import type { Found } from './client.ts';
import { describeHit } from './describe-hit.ts';
import { narrow, sortHits } from './hits.ts';

const at = new Date('2026-06-01T12:00:00Z');
const near = { latitude: 12.97, longitude: 77.59, radiusMeters: 2_000 };

interface Cost {
  value: number;
  unit?: string;
  minValue?: number;
  currency?: string;
}

function hit(id: string, costs: readonly Cost[], standing: Partial<Found> = {}): Found {
  const considerations = costs.map((cost, index) => ({
    id: `${index}`,
    considerationAttributes: { '@context': 'https://x', '@type': 'X', currency: 'INR', ...cost },
  }));
  return {
    resource: { id },
    offers: [{ id: `offer of ${id}`, considerations }],
    catalog: { id: 'c', descriptor: {}, provider: { id: 'p', descriptor: { name: 'P' } } },
    ...standing,
  };
}
const ids = (hits: readonly Found[]) => hits.map(({ resource }) => resource.id);

describe('hits', () => {
  const perKwh = [
    hit('dear', [
      { value: 2, unit: 'session' },
      { value: 22, unit: 'kWh' },
    ]),
    hit('session', [{ value: 5, unit: 'session' }]),
    hit('varying', [{ value: 25, minValue: 15, unit: 'kWh' }]),
    hit('dollars', [{ value: 1, unit: 'kWh', currency: 'USD' }]),
    hit('cheap', [{ value: 18, unit: 'kWh' }]),
  ];

  it('are sorted by prices of one unit and currency, those without such a price last', () => {
    expect(ids(sortHits(perKwh, 'price', {}, at))).toEqual([
      'varying',
      'cheap',
      'dear',
      'session',
      'dollars',
    ]);
    expect(ids(sortHits(perKwh, 'price', { price: { unit: 'session' } }, at)).slice(0, 2)).toEqual([
      'dear',
      'session',
    ]);
  });

  it('are bounded by what energy costs, unless another unit is asked for', () => {
    expect(ids(narrow(perKwh, { price: { max: 20, currency: 'INR' } }, at))).toEqual(['session', 'cheap']);
    expect(ids(narrow(perKwh, { price: { max: 20, unit: 'kWh' } }, at))).toEqual(['dollars', 'cheap']);
    expect(ids(narrow(perKwh, { price: { max: 3, unit: 'session' } }, at))).toEqual(['dear']);
  });

  it('say the unit of a price, and between which values it varies', () => {
    const prices = perKwh.map((one) => describeHit(one, { at }).prices);
    expect(prices[2]).toEqual([{ value: 25, minValue: 15, currency: 'INR', unit: 'kWh' }]);
    expect(describeHit(hit('bare', [{ value: 1 }]), { at }).prices[0]?.unit).toBeUndefined();
  });

  it('have the distance that the service has measured', () => {
    const geo = { type: 'Point', coordinates: [77.59, 12.97] };
    const attributes = { '@context': 'https://x', '@type': 'X', location: { geo } };
    const measured = hit('measured', [], {
      resource: { id: 'measured', resourceAttributes: attributes },
      distanceMeters: 700,
    });
    const unmeasured = hit('unmeasured', [], {
      resource: { id: 'unmeasured', resourceAttributes: attributes },
    });
    expect(describeHit(measured, { at, near }).distanceMeters).toBe(700);
    expect(describeHit(unmeasured, { at, near }).distanceMeters).toBe(0);
    expect(ids(sortHits([measured, unmeasured], 'distance', { near }, at))).toEqual([
      'unmeasured',
      'measured',
    ]);
  });
});
