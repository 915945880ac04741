import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findPeerFaults } from '../../tests/support/peers/peer-schemas.ts';
import { arbitraryValue } from '../../tests/support/values/arbitrary-value.ts';
import { Catalog } from '../protocol/catalog.ts';
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';
import { type Dropped, noteDropped, renderStrict } from './strict-form.ts';

function strict(catalog: object): JsonObject {
  const text = JSON.stringify(catalog);
  return JSON.parse(renderStrict({ shape: 'catalog', json: text }).text ?? text);
}

function dropped(catalog: object): Dropped[] {
  const all: Dropped[] = [];
  noteDropped(catalog, [], (one) => void all.push(one));
  return all;
}

describe('strict form', () => {
  it('keeps of the six objects what every receiver knows, wherever they stand', () => {
    const descriptor = {
      ...{
        code: 'c',
        name: 'n',
        shortDesc: 's',
        longDesc: 'l',
        thumbnailImage: 't',
        docs: [{ url: 'u', any: 1 }],
      },
      mediaFile: [{ label: 'l', mimeType: 'm', uri: 'u', url: 'u' }, 'a text'],
      short_desc: 's',
    };
    const address = { streetAddress: 's', extendedAddress: 'e', addressLocality: 'l', addressRegion: 'r' };
    const provider = {
      ...{ id: 'p', descriptor, providerAttributes: { short_desc: 's', rating: 5 }, rating: 5 },
      availableAt: [
        {
          geo: { type: 'Point', coordinates: [0, 0], note: 1 },
          address: { ...address, postalCode: 'p', addressCountry: 'c', door: '4' },
          gps: '0,0',
        },
        { address },
      ],
    };
    const kept = {
      descriptor: {
        ...{
          code: 'c',
          name: 'n',
          shortDesc: 's',
          longDesc: 'l',
          thumbnailImage: 't',
          docs: [{ url: 'u', any: 1 }],
        },
        mediaFile: [{ label: 'l', mimeType: 'm', uri: 'u' }, 'a text'],
      },
      get provider() {
        return {
          ...{ id: 'p', descriptor: this.descriptor, providerAttributes: { short_desc: 's', rating: 5 } },
          availableAt: [
            {
              geo: { type: 'Point', coordinates: [0, 0], note: 1 },
              address: { ...address, postalCode: 'p', addressCountry: 'c' },
            },
          ],
        };
      },
    };
    const validity = { startDate: '2026-01-31', endDate: '2026-02-28', startTime: '08:00', endTime: '20:00' };
    const strictValidity = {
      ...validity,
      startDate: '2026-01-31T00:00:00Z',
      endDate: '2026-02-28T23:59:59.999Z',
    };
    const open = {
      id: 'x',
      anything: { descriptor, validity },
      resourceAttributes: { descriptor, validity },
    };
    const addOn = { ...open, descriptor, provider, validity: { ...validity, zone: 'IST' } };
    const offer = { ...addOn, addOns: [addOn], considerations: [{ id: 'c', status: descriptor, price: 1 }] };
    const strictAddOn = {
      ...open,
      descriptor: kept.descriptor,
      provider: kept.provider,
      validity: strictValidity,
    };
    const consideration = { id: 'c', status: kept.descriptor, price: 1 };
    expect(
      strict({
        ...{ id: 'c', descriptor, provider, validity, isActive: true },
        ...{ resources: [{ ...open, descriptor }], offers: [offer] },
      }),
    ).toEqual({
      ...{
        id: 'c',
        descriptor: kept.descriptor,
        provider: kept.provider,
        validity: strictValidity,
        isActive: true,
      },
      resources: [{ ...open, descriptor: kept.descriptor }],
      offers: [{ ...strictAddOn, addOns: [strictAddOn], considerations: [consideration] }],
    });
  });

  it('leaves date-times, texts that are no dates, and values of other shapes as they are', () => {
    const validity = { startDate: '2026-01-31T12:00:00+05:30', endDate: '2026-02-30' };
    const catalog = { id: 'c', descriptor: 'a text', provider: null, validity, resources: [7] };
    expect(renderStrict({ shape: 'catalog', json: JSON.stringify(catalog) })).toEqual({ catalogs: 0 });
  });

  it('of a callback has no warnings, and says how many catalogs there are', () => {
    const result = { catalogId: 'c', status: 'ACCEPTED' };
    const body = { context: { warnings: 1 }, message: { results: [{ ...result, warnings: [{}] }, result] } };
    const { text = '' } = renderStrict({ shape: 'body', json: JSON.stringify(body) });
    expect(JSON.parse(text)).toEqual({ context: { warnings: 1 }, message: { results: [result, result] } });
    const catalogs = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];
    const json = Buffer.from(JSON.stringify({ context: {}, message: { catalogs, pagination: {} } }));
    expect(renderStrict({ shape: 'body', json })).toEqual({ catalogs: 3 });
    expect(renderStrict({ shape: 'body', json, only: [0, 2] })).toEqual({
      catalogs: 3,
      text: '{"context":{},"message":{"catalogs":[{"id":"a"},{"id":"c"}],"pagination":{}}}',
    });
  });

  it('of the head and the documents of a catalog is that of the whole', () => {
    fc.assert(
      fc.property(arbitraryCatalog, ({ resources, offers, ...head }) => {
        const textOf = (shape: 'catalog' | 'resources' | 'offers', json: string) =>
          renderStrict({ shape, json }).text ?? json;
        const documents = (list: unknown) =>
          Array.isArray(list) ? list.map((one) => JSON.stringify(one)).join(',') : '';
        expect({
          ...JSON.parse(textOf('catalog', JSON.stringify(head))),
          ...(resources !== undefined && {
            resources: JSON.parse(`[${textOf('resources', documents(resources))}]`),
          }),
          ...(offers !== undefined && { offers: JSON.parse(`[${textOf('offers', documents(offers))}]`) }),
        }).toEqual(strict({ ...head, resources, offers }));
      }),
    );
  });

  it('passes the closed schemas of peers', () => {
    fc.assert(
      fc.property(arbitraryCatalog, (catalog) => {
        const message = { catalogs: [strict(catalog)] };
        expect(findPeerFaults('on_discover', { context: {}, message })).toEqual([]);
      }),
    );
  });

  it('is its own strict form', () => {
    fc.assert(
      fc.property(arbitraryCatalog, (catalog) => {
        const json = JSON.stringify(strict(catalog));
        expect(renderStrict({ shape: 'catalog', json }).text).toBeUndefined();
      }),
    );
  });

  it('differs in nothing but what is noted, and in whole days', () => {
    fc.assert(
      fc.property(arbitraryCatalog, (catalog) => {
        const notes = dropped(catalog);
        expect(strict(catalog)).toEqual(daysWritten(without(catalog, notes)));
        expect(notes.every(({ at }) => at.some((name) => closedPlaces.includes(String(name))))).toBe(true);
        expect(notes.some(({ at }) => at.some((name) => String(name).endsWith('Attributes')))).toBe(false);
      }),
    );
  });
});

/** The names of the six objects in documents. */
const closedPlaces = ['addOns', 'descriptor', 'provider', 'validity', 'status'];

/** Publishable catalogs with unknown members in objects that are open to us, but not in their documents. */
const arbitraryCatalog = fc
  .tuple(arbitraryValue(Catalog), fc.array(fc.nat(), { minLength: 200, maxLength: 200 }))
  .map(([catalog, choices]) => {
    let next = 0;
    const choose = (count: number) => (choices[next++ % choices.length] ?? 0) % count;
    return addUnknown(JSON.parse(JSON.stringify(catalog)), choose) as JsonObject;
  });

const unknown: [string, Json][] = [
  ['short_desc', 'text'],
  ['__proto__', 1],
  ['constructor', [1]],
  ['descriptor', { short_desc: 'in attributes or in one of the six, this is nobody’s' }],
];

function addUnknown(value: Json, choose: (count: number) => number, name = ''): Json {
  if (Array.isArray(value)) return value.map((item) => addUnknown(item, choose, name));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([member, inner]): [string, Json] => [
    member,
    ['geo', 'docs', 'mediaFile', 'rating'].includes(member)
      ? mediaOf(member, inner)
      : addUnknown(inner, choose, member),
  ]);
  // A catalog is also closed for us, and a descriptor of another object would be one of the six.
  const isOpen =
    name.endsWith('Attributes') ||
    ['descriptor', 'provider', 'validity', 'address', 'availableAt'].includes(name);
  const added = isOpen && choose(2) === 0 ? unknown[choose(unknown.length)] : undefined;
  if (added && !Object.hasOwn(value, added[0])) entries.push(added);
  return Object.fromEntries(entries);
}

/** Our schema allows any value here; the test avoids those that peers would refuse for another reason. */
function mediaOf(member: string, value: Json): Json {
  if (member === 'mediaFile') return [{ uri: 'https://files.example/1', url: 'u' }, { label: 'l' }];
  return member === 'docs' ? [{ url: 'https://files.example/1' }] : value;
}

function without(value: Json, notes: readonly Dropped[], at: (string | number)[] = []): Json {
  const isDropped = (name: string | number) =>
    notes.some(
      (note) =>
        note.at.length === at.length + 1 && [...at, name].every((part, index) => part === note.at[index]),
    );
  if (Array.isArray(value))
    return value.flatMap((item, index) => (isDropped(index) ? [] : [without(item, notes, [...at, index])]));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      isDropped(name) ? [] : [[name, without(inner, notes, [...at, name])]],
    ),
  );
}

/** Only catalogs and offers have a validity, and nothing else here has a member of this name. */
function daysWritten(value: Json): Json {
  if (Array.isArray(value)) return value.map(daysWritten);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const isDay = typeof inner === 'string' && /^\d{4}-\d\d-\d\d$/.test(inner);
      if (isDay && name === 'startDate') return [name, `${inner}T00:00:00Z`];
      if (isDay && name === 'endDate') return [name, `${inner}T23:59:59.999Z`];
      return [name, daysWritten(inner)];
    }),
  );
}
