import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dataFile } from '../../tests/support/catalogs/data-dir.ts';
import type { Json, JsonObject } from '../protocol/json.ts';
import { tariffOf } from './ocpi-tariff.ts';
import { openingAttributes } from './opening-hours.ts';
import type { Problem } from './station.ts';
import { isImportedOffer, offersOf } from './tariff-offer.ts';

function offerOf(given: Json) {
  const problems: Partial<Problem>[] = [];
  const tariff = tariffOf(given, (why, more) => void problems.push({ why, kind: 'value', ...more }));
  const offer = tariff && offersOf('S', [{ ...tariff, timeZone: 'Europe/Berlin', chargerIds: ['c'] }])[0];
  return { offer, problems };
}

const simple = { id: '1', currency: 'EUR', last_updated: '2026-01-31T12:00:00Z' };
const element = (components: JsonObject[], restrictions?: JsonObject | JsonObject[]) => ({
  price_components: components,
  ...(restrictions && { restrictions }),
});

describe('an OCPI tariff', () => {
  it('becomes an offer with a consideration for each dimension, with taxes, steps and bounds', () => {
    const { offer, problems } = offerOf({
      ...simple,
      type: 'AD_HOC_PAYMENT',
      tariff_alt_text: [{ language: 'en', text: '0.25 per kWh' }],
      tax_included: 'NO',
      start_date_time: '2026-01-01T00:00:00Z',
      end_date_time: '2026-12-31T23:59:59',
      min_price: { before_taxes: 0.5, after_taxes: 0.55 },
      max_price: { excl_vat: 10, incl_vat: 11 },
      elements: [
        element([
          { type: 'FLAT', price: 0.5, vat: 20, step_size: 1 },
          { type: 'ENERGY', price: 0.25, vat: 10, step_size: 100 },
        ]),
      ],
    });
    expect(problems).toEqual([]);
    const attributes = (type: string, value: number, unit: string, more: object) => ({
      '@context': 'https://schema.beckn.io/PriceSpecification/v1/context.jsonld',
      '@type': 'PriceSpecification',
      type,
      value,
      currency: 'EUR',
      unit,
      components: [{ type, value, currency: 'EUR', unit, ...more }],
    });
    expect(offer).toEqual({
      id: 'S:tariff:1',
      descriptor: { shortDesc: '0.25 per kWh', code: 'AD_HOC_PAYMENT' },
      resourceIds: ['c'],
      validity: { startDate: '2026-01-01T00:00:00Z', endDate: '2026-12-31T23:59:59Z' },
      considerations: [
        {
          id: 'flat',
          considerationAttributes: attributes('FLAT', 0.5, 'session', { taxIncluded: false, taxPercent: 20 }),
        },
        {
          id: 'energy',
          considerationAttributes: attributes('ENERGY', 0.25, 'kWh', {
            step: { value: 100, unit: 'Wh' },
            taxIncluded: false,
            taxPercent: 10,
          }),
        },
        {
          id: 'minimum',
          considerationAttributes: attributes('MINIMUM', 0.5, 'session', { taxIncluded: false }),
        },
        {
          id: 'maximum',
          considerationAttributes: attributes('MAXIMUM', 10, 'session', { taxIncluded: false }),
        },
      ],
    });
    expect(isImportedOffer({ id: 'S:tariff:1' })).toBe(true);
  });

  it('is worth its highest price, with each price under its restrictions in order', () => {
    const { offer } = offerOf({
      ...simple,
      elements: [
        element([{ type: 'TIME', price: 1, step_size: 900 }], {
          start_time: '08:00',
          end_time: '20:00',
          day_of_week: ['MONDAY'],
        }),
        // Some operators send an array of one.
        element([{ type: 'TIME', price: 2.4, step_size: 900 }], [{ min_duration: 14_460 }]),
        element([{ type: 'TIME', price: 0, step_size: 900 }]),
      ],
    });
    expect(offer?.considerations).toMatchObject([
      {
        id: 'time',
        considerationAttributes: {
          value: 2.4,
          minValue: 0,
          unit: 'h',
          timeZone: 'Europe/Berlin',
          components: [
            {
              value: 1,
              step: { value: 900, unit: 's' },
              restrictions: { startTime: '08:00', endTime: '20:00', dayOfWeek: ['MONDAY'] },
            },
            { value: 2.4, restrictions: { minDuration: 14_460 } },
            { value: 0 },
          ],
        },
      },
    ]);
  });

  it('does not mix the price of a reservation with that of charging', () => {
    const { offer } = offerOf({
      ...simple,
      elements: [
        element([{ type: 'TIME', price: 5, step_size: 60 }], { reservation: 'RESERVATION' }),
        element([{ type: 'TIME', price: 2, step_size: 60 }]),
      ],
    });
    expect(offer?.considerations?.map(({ id }) => id)).toEqual(['reservation-time', 'time']);
  });

  it.each([
    ['no element', { ...simple, elements: [] }, 'has no price'],
    ['a currency that is none', { ...simple, currency: 'EURO' }, 'a currency of three letters'],
    [
      'a price below zero',
      { ...simple, elements: [element([{ type: 'FLAT', price: -1 }])] },
      'is not a price',
    ],
    [
      'a price without end',
      { ...simple, elements: [element([{ type: 'FLAT', price: '1e999' }])] },
      'is not a price',
    ],
    [
      'no currency',
      { id: '1', elements: [element([{ type: 'FLAT', price: 0 }])] },
      'needs an id, and a currency',
    ],
    [
      'an unknown dimension',
      { ...simple, elements: [element([{ type: 'LOVE', price: 1 }])] },
      'is not a price',
    ],
  ])('with %s is reported, and not free', (_, tariff, why) => {
    const { offer, problems } = offerOf(tariff);
    expect(offer).toBeUndefined();
    expect(problems[0]?.why).toContain(why);
    expect(problems[0]?.kind).toBe('value');
  });

  it('that is free is free', () => {
    const { offer } = offerOf({ ...simple, elements: [element([{ type: 'FLAT', price: 0, step_size: 0 }])] });
    expect(offer?.considerations).toMatchObject([{ considerationAttributes: { value: 0, unit: 'session' } }]);
  });

  const examples = dataFile('charging/ocpi-2.3.0-examples');
  it.skipIf(!existsSync(examples))(
    'of the examples of OCPI 2.3.0 keeps every price (needs the examples)',
    () => {
      for (const file of readdirSync(examples).filter((name) => name.startsWith('tariff'))) {
        const document = JSON.parse(readFileSync(join(examples, file), 'utf8'));
        const { elements } = document.data ?? document;
        const given = elements.flatMap(({ price_components }: { price_components: JsonObject[] }) =>
          price_components.map(({ price }) => price),
        );
        const { offer, problems } = offerOf(document.data ?? document);
        const made = (offer?.considerations ?? [])
          .filter(({ id }) => !['minimum', 'maximum'].includes(id))
          .flatMap(
            ({ considerationAttributes }) => considerationAttributes?.components as { value: number }[],
          )
          .map(({ value }) => value);
        expect(made.sort(), file).toEqual(given.sort());
        expect(
          problems.filter(({ kind }) => kind !== 'note'),
          file,
        ).toEqual([]);
      }
    },
  );
});

describe('opening times of OCPI', () => {
  const report = (why: string) => {
    throw new Error(why);
  };
  const hour = (weekday: number, begin: string, end: string) => ({
    weekday,
    period_begin: begin,
    period_end: end,
  });

  it('are written as OpenStreetMap writes them', () => {
    expect(openingAttributes({ twentyfourseven: true }, report)).toEqual({ openingHours: '24/7' });
    const regular = [7, 1, 2, 3, 4, 5].map((day) => hour(day, '07:00', day === 7 ? '12:00' : '20:30'));
    expect(
      openingAttributes(
        { twentyfourseven: false, regular_hours: [...regular, hour(1, '21:00', '22:00')] },
        report,
      ),
    ).toEqual({ openingHours: 'Mo 07:00-20:30,21:00-22:00; Tu-Fr 07:00-20:30; Su 07:00-12:00' });
  });

  it('keep their exceptions', () => {
    const period = { period_begin: '2018-12-25T03:00:00Z', period_end: '2018-12-25T05:00:00Z' };
    expect(openingAttributes({ twentyfourseven: true, exceptional_closings: [period] }, report)).toEqual({
      openingHours: '24/7',
      exceptionalClosings: [{ begin: '2018-12-25T03:00:00Z', end: '2018-12-25T05:00:00Z' }],
    });
  });
});
