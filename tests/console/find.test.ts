import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalog, charger, chargerContext, offer } from '../support/catalogs/sample-catalogs.ts';
import { type Discovering, filter, startDiscovering } from '../support/network/discover.ts';
import { defaultNetwork } from '../support/network/network.ts';

// Find: the requests of the consumer page to the operator's API, on a real index.

let scene: Discovering;
const targets = '$.catalogs[*].provider.availableAt[*].geo';
const owner = 'provider.signpost.test';
const chargers = Array.from({ length: 6 }, (_, index) =>
  charger(`c${index}`, {
    ratedPower: { value: 10 * (index + 1), unit: 'kW' },
    connectorType: index % 2 === 0 ? 'CCS2' : 'Type2',
  }),
);
const place = {
  provider: {
    id: 'volt',
    descriptor: { name: 'Voltpath' },
    availableAt: [{ geo: { type: 'Point' as const, coordinates: [77.6, 12.97] } }],
  },
};
const price = (value: number) => ({
  considerations: [
    {
      id: 'kwh',
      considerationAttributes: { '@context': 'https://x.example', '@type': 'Price', value, currency: 'INR' },
    },
  ],
});

beforeAll(async () => {
  scene = await startDiscovering({ settings: { ROLES: 'registry,discovery,console' } });
  await scene.hold([
    catalog('volt', {
      ...place,
      resources: chargers,
      offers: [offer('day', { resourceIds: ['c0'], ...price(18.5) }), offer('night', price(9))],
    }),
    catalog('paused', { isActive: false, resources: [charger('sleeping')] }),
    catalog('past', { validity: { endDate: '2020-01-01' }, resources: [charger('old')] }),
  ]);
  await scene.hold([catalog('elsewhere', { resources: [charger('far')] })], { networks: ['other/net'] });
  await scene.hold([catalog('template', { resources: [charger('model')] })], { type: 'MASTER' });
});
afterAll(() => scene?.network.close());

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
async function ask(path: string, body?: object): Promise<{ status: number; body: any }> {
  const response = await fetch(`${scene.network.config.consoleUrl}${path}`, {
    ...(body && {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify(body),
    }),
  });
  return { status: response.status, body: await response.json() };
}

const ccs2 = "@.resourceAttributes.attributes.connectorType == 'CCS2'";
const where = (condition: string) => filter(`$.catalogs[*].resources[?${condition}]`);
const around = (distanceMeters: number, coordinates = [77.6, 13.0]) => ({
  intent: {
    spatial: [{ op: 'S_DWITHIN', targets, geometry: { type: 'Point', coordinates }, distanceMeters }],
  },
});

describe('GET /api/schemas/fields', () => {
  it('lists the fields of the indexed schemas with the values that occur', async () => {
    const { body } = await ask(`/api/schemas/fields?network=${encodeURIComponent(defaultNetwork)}`);
    const [type] = body.types;
    expect(type).toMatchObject({
      ...{ type: `${chargerContext}#EnergyResourceEVCharger`, label: 'Energy resource EV charger' },
      resources: 6,
    });
    expect(type.fields).toContainEqual({
      path: '@.resourceAttributes.attributes.connectorType',
      ...{ label: 'Connector type', kind: 'enum' },
      values: [
        { value: 'CCS2', count: 3 },
        { value: 'Type2', count: 3 },
      ],
    });
    expect(type.fields).toContainEqual({
      path: '@.resourceAttributes.attributes.ratedPower.value',
      ...{ label: 'Rated power', kind: 'number', unit: 'kW', min: 10, max: 60 },
    });
    expect(body.offers[0]).toEqual({
      path: '@.considerations[*].considerationAttributes.value',
      ...{ label: 'Price', kind: 'number', unit: 'INR', min: 9, max: 18.5 },
    });
    // From offers that name a charger.
    expect(type.offers[0]).toMatchObject({ label: 'Price', min: 18.5, max: 18.5 });
  });

  it('lists nothing of a network in which nothing is published', async () => {
    expect((await ask('/api/schemas/fields?network=no/net')).body).toEqual({ types: [], offers: [] });
  });
});

describe('POST /api/find', () => {
  it('answers what discover would, with how it was found and the request that asks the same', async () => {
    const message = { ...where(ccs2), limit: 2 };
    const { status, body } = await ask('/api/find', { networkId: defaultNetwork, message });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ resourceCount: 2, total: 3, orMore: false, nearMisses: [] },
      pagination: { total: 3, limit: 2, offset: 0 },
      leftOut: { resources: 1 },
      request: {
        context: { action: 'discover', bapId: 'consumer.signpost.test', networkId: defaultNetwork },
        message,
      },
    });
    expect(body.catalogs[0].resources.map(({ id }: { id: string }) => id)).toEqual(['c0', 'c2']);
    expect(body.catalogs[0].offers).toHaveLength(2);
    expect(body.explain.steps).toContainEqual(expect.objectContaining({ step: 'lead' }));
    expect(body.explain.ms).toBeGreaterThan(0);
  });

  it('answers as one types: half a word finds what begins with it, and the whole word then finds no more', async () => {
    const find = async (textSearch: string) =>
      (await ask('/api/find', { message: { intent: { textSearch } } })).body;
    for (const typed of ['vol', 'voltp', 'voltpath']) expect((await find(typed)).resourceCount).toBe(6);
    expect((await find('vo')).resourceCount).toBe(0);
    const { words } = (await find('voltp')).explain.steps.find(
      ({ step }: { step: string }) => step === 'read words',
    );
    expect(words[0].standsFor).toContainEqual(expect.objectContaining({ word: 'voltpath', form: 'begun' }));
  });

  it('gives a request that a discovery service takes', async () => {
    const { body } = await ask('/api/find', { message: where(ccs2) });
    const { context, message } = body.request;
    const { bapId: _id, bapUri: _uri, ...others } = context;
    expect((await scene.discover(message, others)).status).toBe(200);
  });

  it.each([
    [
      'a misspelled path',
      { message: where("@.resourceAttributes.attributes.conectorType == 'CCS2'") },
      'unknown-path',
      '$.catalogs[*].resources[*].resourceAttributes.attributes.connectorType',
    ],
    ['swapped coordinates', { message: around(5_000, [13.0, 77.6]) }, 'swapped-coordinates', undefined],
    ['a network without catalogs', { networkId: 'no/net', message: where(ccs2) }, 'network-empty', undefined],
    [
      'an offset beyond the last',
      { message: { ...where(ccs2), offset: 10 } },
      'offset-beyond-last',
      undefined,
    ],
    [
      'a catalog of another network',
      { networkId: 'other/net', message: where(ccs2) },
      'other-network',
      undefined,
    ],
  ])('tells what came close to %s', async (_, request, code, suggestion) => {
    const { body } = await ask('/api/find', request);
    expect(body.resourceCount).toBe(0);
    expect(body.nearMisses[0]).toMatchObject({ code, ...(suggestion && { suggestion }) });
  });

  it('answers a wrong expression as discover would', async () => {
    expect((await ask('/api/find', { message: filter('$[?') })).status).toBe(400);
  });
});

describe('POST /api/find/why', () => {
  const why = async (id: string, message: object, others: object = {}) => {
    const { body } = await ask('/api/find/why', { message, resource: { id }, ...others });
    const failed = body.checks.filter(({ ok }: { ok: boolean }) => !ok);
    return { ...body, failed };
  };

  it('says at which position a resource is found', async () => {
    const { found, rank, checks } = await why('c2', where(ccs2), { networkId: defaultNetwork });
    expect([found, rank]).toEqual([true, 2]);
    expect(checks.map(({ check }: { check: string }) => check)).toEqual([
      ...['indexed', 'served', 'network', 'validity', 'filter', 'limit'],
    ]);
  });

  it.each([
    ['nobody', 'indexed', /no resource nobody/, {}],
    ['sleeping', 'served', /is not active/, {}],
    ['model', 'served', /MASTER/, {}],
    ['far', 'network', /visible in other\/net/, { networkId: defaultNetwork }],
    ['c0', 'schema', /volt uses .*EVCharger/, { schemaContext: ['https://a.example'] }],
    ['old', 'validity', /until 2020-01-01/, {}],
  ])('%s is kept out by the check "%s"', async (id, check, detail, others) => {
    const { found, failed, conclusion, nextStep } = await why(id, where('@.id'), others);
    expect(found).toBe(false);
    expect(failed[0]).toMatchObject({ check, detail: expect.stringMatching(detail) });
    expect(conclusion).toContain(failed[0].detail);
    expect(nextStep).toMatch(/\.$/);
  });

  it('names the condition of a filter that does not hold, and what stands there instead', async () => {
    const condition = `${ccs2} && @.resourceAttributes.attributes.ratedPower.value >= 50`;
    const { failed } = await why('c0', where(condition));
    expect(failed).toEqual([
      {
        ...{ check: 'filter', ok: false },
        detail:
          '@.resourceAttributes.attributes.ratedPower.value >= 50 is not satisfied: @.resourceAttributes.attributes.ratedPower.value is 10.',
        got: { '@.resourceAttributes.attributes.ratedPower.value': 10 },
      },
    ]);
  });

  it('says so of a filter that looks at offers', async () => {
    const cheap = filter('$.catalogs[*].offers[?@.considerations[?@.considerationAttributes.value < 5]]');
    expect((await why('c1', cheap)).failed[0]).toMatchObject({ check: 'filter' });
    const dear = filter('$.catalogs[*].offers[?@.considerations[?@.considerationAttributes.value > 15]]');
    expect((await why('c0', dear)).found).toBe(true);
    expect((await why('c1', dear)).found).toBe(false);
  });

  it('measures how far away a resource is', async () => {
    const { failed } = await why('c0', around(1_000));
    expect(failed[0]).toMatchObject({ check: 'spatial', got: { distanceMeters: expect.any(Number) } });
    expect(failed[0].detail).toBe('S_DWITHIN 1.0 km is not satisfied. It is 3.3 km away.');
    expect((await why('c0', around(5_000))).found).toBe(true);
  });

  it('says that a resource has no geometry at the target', async () => {
    const { failed } = await why('far', around(5_000));
    expect(failed[0].detail).toContain(`It has no geometry at ${targets}`);
  });

  it('says which words a resource lacks', async () => {
    const { failed } = await why('c0', { intent: { textSearch: 'xylophone' } });
    expect(failed[0]).toMatchObject({ check: 'text', detail: expect.stringContaining('xylophone'), got: [] });
    const { checks } = await why('c0', { intent: { textSearch: 'voltpath xylophone' } });
    expect(checks).toContainEqual(expect.objectContaining({ check: 'text', ok: true, got: ['voltpath'] }));
  });

  it('says on which page a resource stands', async () => {
    const { found, rank, failed } = await why('c4', { ...where(ccs2), limit: 2 });
    expect([found, rank]).toEqual([false, 3]);
    expect(failed[0]).toMatchObject({ check: 'limit', got: 3 });
  });

  it('looks at the catalog and owner that are named', async () => {
    const resource = { id: 'c0', catalogId: 'volt', owner };
    const { body } = await ask('/api/find/why', { message: where(ccs2), resource });
    expect(body).toMatchObject({ found: true, resource: { catalogId: 'volt' } });
    const other = { ...resource, owner: 'somebody.example.org' };
    expect((await ask('/api/find/why', { message: where(ccs2), resource: other })).body.found).toBe(false);
  });
});
