import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { charger } from '../../support/catalogs/sample-catalogs.ts';
import { type Discovering, filter, startDiscovering } from '../../support/network/discover.ts';
import type { TestNetwork } from '../../support/network/network.ts';

// If nothing is found, the acknowledgement reports near misses: the typical mistakes of new users.

let network: TestNetwork;
let hold: Discovering['hold'];
let discover: Discovering['discover'];
const logged: Record<string, unknown>[] = [];

const attributes = '$.catalogs[*].resources[*].resourceAttributes.attributes';
const providerGeo = '$.catalogs[*].provider.availableAt[*].geo';
const bangalore = [77.64, 12.97];

beforeAll(async () => {
  const logger = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  ({ network, hold, discover } = await startDiscovering({
    logger,
    settings: { DISCOVER_TIMEOUT_MS: '60000' },
  }));
  const geo = { type: 'Point' as const, coordinates: bangalore };
  const provider = { id: 'p', descriptor: { name: 'Voltpath' } };
  const thing = (id: string, members: object) => ({ id, ...members });
  await hold([
    {
      id: 'chargers',
      provider: { ...provider, availableAt: [{ geo }] },
      resources: [charger('fast', { connectorType: 'CCS2', ratedPower: { value: 50, unit: 'kW' } })],
      offers: [{ id: 'o', resourceIds: ['fast'], descriptor: { name: 'By night' } }],
    },
  ]);
  await hold([{ id: 'club', resources: [thing('member', { secretRank: 1, hall: geo })] }], {
    networks: ['club.example/members'],
  });
  await hold([{ id: 'closed', isActive: false, resources: [thing('gone', { hiddenRank: 1 })] }]);
});
afterAll(() => network.close());

/** The near miss in the acknowledgement of a search that found nothing. */
async function missed(message: object, context: object = {}): Promise<{ says: string; path?: string }> {
  const { status, body } = await discover(message, context);
  expect(status).toBe(202);
  expect(body.message).toMatchObject({ status: 'ACK', error: { code: 'BIZ_NO_RESULTS_FOUND' } });
  const { message: text, details } = body.message.error;
  expect(text.startsWith('Nothing matches the intent.')).toBe(true);
  return {
    says: text.slice('Nothing matches the intent.'.length).trim(),
    ...(details && { path: details.path }),
  };
}

const near = (coordinates: readonly number[], targets: string | string[] = providerGeo) => ({
  intent: {
    spatial: [{ op: 'S_DWITHIN', targets, geometry: { type: 'Point', coordinates }, distanceMeters: 5_000 }],
  },
});
const where = (condition: string) => filter(`$.catalogs[*].resources[?${condition}]`);
const expression = '$.message.intent.filters.expression';

describe('a discover that finds nothing says what came close', () => {
  it('nothing more where all that it names is known', async () => {
    expect(await missed(where("@.resourceAttributes.attributes.connectorType == 'CHAdeMO'"))).toEqual({
      says: '',
    });
    expect(await missed({ intent: { textSearch: 'xylophone' } })).toEqual({ says: '' });
    expect(await missed(near([0, 0]))).toEqual({ says: '' });
  });

  it.each([
    ['of another root', '$.provider.availableAt[*].geo'],
    ['of another level', '$.catalogs[*].provider.availableAt.geo'],
    ['that is no path', 'geo'],
  ])('a spatial target %s, and the known ones', async (_, target) => {
    expect(await missed(near(bangalore, target), { networkId: 'nfh.global/beckn-nodes' })).toEqual({
      says: `There is no geometry at ${target}; the nearest known targets are ${providerGeo}.`,
      path: '$.message.intent.spatial[0].targets',
    });
    expect(logged.at(-1)).toMatchObject({ misses: [{ close: [providerGeo] }] });
  });

  it.each([
    [
      'a name in another case',
      '@.resourceAttributes.attributes.connectortype',
      'connectortype',
      'connectorType',
    ],
    [
      'a typing error',
      '@.resourceAttributes.attributes.ratedPwer.value',
      'ratedPwer.value',
      'ratedPower.value',
    ],
  ])('a filter path with %s, and the known ones', async (_, condition, unknown, close) => {
    const { says, path } = await missed(where(`${condition} == 'CCS2'`));
    expect(path).toBe(expression);
    expect(says).toMatch(/^In a sample of \d+ catalogs there is no value at /);
    expect(says).toContain(`${attributes}.${unknown}; the nearest known paths are ${attributes}.${close}`);
  });

  it('a filter on the children of resources, which was meant for resources', async () => {
    const { says } = await missed(filter("$.catalogs[*].resources[*][?@.descriptor.name == 'Charger fast']"));
    expect(says).toContain('there is no value at $.catalogs[*].resources[*][*].descriptor');
    expect(says).toContain('$.catalogs[*].resources[*].descriptor');
  });

  it('the same in the form of PostgreSQL, and for offers', async () => {
    const { says } = await missed(filter('$.catalogs[*].offers[*] ? (@.descriptor.nam == "By night")'));
    expect(says).toContain('$.catalogs[*].offers[*].descriptor.nam; the nearest known paths are');
    expect(says).toContain('$.catalogs[*].offers[*].descriptor.name');
  });

  it('coordinates that match when they are swapped', async () => {
    const swapped = {
      says: 'There are matches if longitude and latitude are swapped: coordinates are [longitude, latitude].',
      path: '$.message.intent.spatial[0].geometry.coordinates',
    };
    expect(await missed(near([12.97, 77.64]))).toEqual(swapped);
    const { intent } = near([12.97, 77.64]);
    expect(await missed({ intent: { ...intent, textSearch: 'charger' } })).toEqual(swapped);
    expect(await missed({ intent: { ...intent, textSearch: 'xylophone' } })).toEqual({ says: '' });
  });

  it('$.message as the root of a filter or a target', async () => {
    expect(await missed(filter("$.message.catalogs[*].resources[?@.id == 'fast']"))).toEqual({
      says: 'The filter begins with $.message, but $ is the message itself: begin with $.catalogs[*].',
      path: expression,
    });
    const target = `$.message.${providerGeo.slice(2)}`;
    expect(await missed(near(bangalore, target))).toEqual({
      says: `The target begins with ${target}, but $ is the message itself: begin with $.catalogs[*].`,
      path: '$.message.intent.spatial[0].targets',
    });
  });

  it('a network in which nothing is published, and a schema context', async () => {
    expect(await missed(where("@.id == 'fast'"), { networkId: 'nobody.example/here' })).toEqual({
      says: 'Nothing is published in the network nobody.example/here right now.',
      path: '$.context.networkId',
    });
    const schemaContext = ['https://schema.example/Nothing/v1/context.jsonld'];
    expect(await missed(where("@.id == 'fast'"), { schemaContext })).toEqual({
      says: 'Nothing is published with a schema context that the request names.',
      path: '$.context.schemaContext',
    });
  });

  it('an offset beyond the last one', async () => {
    expect(await missed({ ...where("@.id == 'fast'"), offset: 7 })).toEqual({
      says: 'The offset is beyond the last of 1 matches.',
      path: '$.message.offset',
    });
  });

  it('and names nothing of other networks, or of what is not served', async () => {
    const inOurs = { networkId: 'nfh.global/beckn-nodes' };
    const said = [
      await missed(where('@.secretRan == 1'), inOurs),
      await missed(where('@.hiddenRan == 1'), inOurs),
      await missed(near(bangalore, '$.catalogs[*].resources[*].hal'), inOurs),
      await missed(near(bangalore, '$.catalogs[*].resources[*].hall'), inOurs),
    ].map(({ says }) => says);
    for (const says of said) {
      expect(says).toContain('nearest known');
      expect(says).not.toMatch(/secretRank|hiddenRank|nearest.*hall/);
    }
    const inTheirs = { networkId: 'club.example/members' };
    expect((await missed(where('@.secretRan == 1'), inTheirs)).says).toContain('secretRank');
    expect((await missed(near(bangalore, '$.catalogs[*].resources[*].hal'), inTheirs)).says).toContain(
      '[*].hall',
    );
  });

  it('in a short sentence, whatever the request says', async () => {
    const { says } = await missed(where(`@.${'x'.repeat(1_000)} == 1`));
    expect(says).toContain('x…');
    expect(says.length).toBeLessThan(700);
  });
});
