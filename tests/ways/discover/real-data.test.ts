import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import type { Catalog, Resource } from '../../../src/protocol/catalog.ts';
import type { Geometry } from '../../../src/protocol/geojson.ts';
import { distanceBetween } from '../../../src/rules/geometry/distance.ts';
import { writeIndex } from '../../../src/search/port.ts';
import { delhiStations, hasRealData, products, ukStations } from '../../support/catalogs/real-data.ts';
import type { Actor } from '../../support/network/actor.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../../support/network/network.ts';

// Real registers, with their gaps and spellings, and questions that people would ask.

describe.skipIf(!hasRealData)('real data (needs the real data)', () => {
  let network: TestNetwork;
  let consumer: Actor;
  let stations: Catalog[];

  beforeAll(async () => {
    stations = ukStations(1_000);
    network = await startNetwork();
    consumer = await network.actor('driver');
    await hold([...stations, ...delhiStations()], 'chargers.signpost.test');
    await hold(products(), 'grocer.signpost.test');
  });
  afterAll(() => network?.close());

  async function hold(catalogs: Catalog[], owner: string): Promise<void> {
    const incoming = catalogs.map((catalog) => ({
      source: 'service:catalog.signpost.test/subscribers.beckn.one',
      owner: `${owner}/subscribers.beckn.one`,
      type: 'REGULAR' as const,
      networks: [defaultNetwork],
      mode: 'FULL' as const,
      catalog,
    }));
    await network.database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply(incoming)));
  }

  async function found(intent: object, paging: object = {}): Promise<Catalog[]> {
    const message = { intent, ...paging };
    const answer = await consumer.send(actions.discover, message, { to: network.discoveryUrl });
    expect(answer).toMatchObject({ status: 200 });
    return (await consumer.waitFor('on_discover', answer.messageId)).body.message.catalogs;
  }

  it('finds the chargers around Trafalgar Square, the nearest first', async () => {
    const square = { type: 'Point' as const, coordinates: [-0.128, 51.508] };
    const answer = await found({ spatial: [near(square, 3_000)] }, { limit: 1000 });
    const distances = answer.map((catalog) => distanceBetween(placeOf(catalog), square));
    expect(distances).toEqual([...distances].sort((a, b) => a - b));
    const expected = stations.filter(
      (station) => hasResources(station) && distanceBetween(placeOf(station), square) <= 3_000,
    );
    expect(expected.length).toBeGreaterThan(5);
    expect(idsOf(answer)).toEqual(idsOf(expected));
  });

  it('finds fast chargers with a certain plug', async () => {
    const at = '@.resourceAttributes.attributes';
    const expression = `$.catalogs[*].resources[?${at}.connectorType == 'CHAdeMO' && ${at}.ratedPower.value >= 50]`;
    const answer = await found({ filters: { type: 'jsonpath', expression } }, { limit: 1000 });
    const isFast = (resource: Resource) => {
      const { connectorType, ratedPower } = attributesOf(resource);
      return connectorType === 'CHAdeMO' && (ratedPower?.value ?? 0) >= 50;
    };
    const expected = stations.flatMap(({ resources = [] }) => resources).filter(isFast);
    expect(expected.length).toBeGreaterThan(10);
    expect(
      resourcesOf(answer)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(expected.map(({ id }) => id).sort());
  });

  it('finds a station by its name, misspelt, and by its operator near a place', async () => {
    const [cafe] = await found({ textSearch: 'ace caffe london willesdon' });
    expect(cafe?.descriptor?.name).toBe('ACE Cafe London');
    const piccadilly = { type: 'Point' as const, coordinates: [-0.1337, 51.5099] };
    const answer = await found({ textSearch: 'source london', spatial: [near(piccadilly, 2_000)] });
    expect(answer.length).toBeGreaterThan(0);
    for (const catalog of answer) expect(distanceBetween(placeOf(catalog), piccadilly)).toBeLessThan(2_000);
  });

  it('finds stations in Delhi inside an area, those that are areas themselves too', async () => {
    const delhi: Geometry = {
      type: 'Polygon',
      coordinates: [
        [
          [76.8, 28.3],
          [77.6, 28.3],
          [77.6, 28.9],
          [76.8, 28.9],
          [76.8, 28.3],
        ],
      ],
    };
    const answer = await found(
      { spatial: [{ op: 'S_WITHIN', targets: places, geometry: delhi }] },
      { limit: 1000 },
    );
    expect(answer.length).toBeGreaterThan(80);
    expect(new Set(answer.map((catalog) => placeOf(catalog).type))).toEqual(new Set(['Point', 'Polygon']));
    const touching = { type: 'Point' as const, coordinates: [77.253034, 28.588967] };
    const [only] = await found({ spatial: [{ op: 'S_INTERSECTS', targets: places, geometry: touching }] });
    expect(only?.id).toBe('way/1200990773');
  });

  it('finds products by what they are called and what is in them', async () => {
    const chocolate = resourcesOf(await found({ textSearch: 'milk chocolate truffles' }));
    expect(chocolate[0]?.descriptor?.name).toBe('Lindor, Milk Chocolate Truffles');
    const expression = '$.catalogs[*].resources[?@.per100g.sugar < 1 && @.per100g.protein > 20]';
    const lean = resourcesOf(await found({ filters: { type: 'jsonpath', expression } }, { limit: 1000 }));
    const expected = resourcesOf(products()).filter((product) => {
      const { sugar = 100, protein = 0 } = contentsOf(product);
      return sugar < 1 && protein > 20;
    });
    expect(expected.length).toBeGreaterThan(20);
    expect(lean.map(({ id }) => id).sort()).toEqual(expected.map(({ id }) => id).sort());
  });

  it('finds sweet things by a word and a condition together', async () => {
    const expression = '$.catalogs[*].resources[?@.per100g.sugar > 30]';
    const answer = resourcesOf(
      await found({ textSearch: 'chocolate', filters: { type: 'jsonpath', expression } }, { limit: 1000 }),
    );
    expect(answer.length).toBeGreaterThan(5);
    for (const product of answer) {
      expect(contentsOf(product).sugar).toBeGreaterThan(30);
      expect(product.descriptor?.name).toMatch(/cho?c/i);
    }
  });
});

const places = '$.catalogs[*].provider.availableAt[*].geo';

function near(geometry: Geometry, distanceMeters: number): object {
  return { op: 'S_DWITHIN', targets: places, geometry, distanceMeters };
}

function placeOf({ provider }: Catalog): Geometry {
  const [location] = provider.availableAt ?? [];
  if (location?.geo === undefined) throw new Error(`${provider.id} is nowhere`);
  return location.geo;
}

function hasResources({ resources = [] }: Catalog): boolean {
  return resources.length > 0;
}

function idsOf(catalogs: readonly Catalog[]): string[] {
  return catalogs.map(({ id }) => id).sort();
}

function resourcesOf(catalogs: readonly Catalog[]): Resource[] {
  return catalogs.flatMap(({ resources = [] }) => resources);
}

function attributesOf({ resourceAttributes }: Resource): {
  connectorType?: string;
  ratedPower?: { value: number };
} {
  return (resourceAttributes as { attributes?: object } | undefined)?.attributes ?? {};
}

function contentsOf(product: Resource): { sugar?: number; protein?: number } {
  return (product as { per100g?: object }).per100g ?? {};
}
