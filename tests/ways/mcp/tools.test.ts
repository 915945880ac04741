import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Catalog, Offer } from '../../../src/protocol/catalog.ts';
import { coffee, extending } from '../../support/catalogs/masters.ts';
import { charger } from '../../support/catalogs/sample-catalogs.ts';
import { crawl } from '../../support/hosted/crawl.ts';
import type { Body } from '../../support/network/actor.ts';
import { type Discovering, startDiscovering } from '../../support/network/discover.ts';
import { defaultNetwork } from '../../support/network/network.ts';
import { type Provider, startProvider } from '../../support/network/provider.ts';
import {
  ackOf,
  callBack,
  onixRefusal,
  type Participant,
  startPeerService,
} from '../../support/peers/peer-services.ts';
import { consumerSettings, type McpProcess, startMcp } from '../../support/processes/mcp-process.ts';

// The four tools of `signpost mcp` on a real network: a crawled node that signs files, and a provider that publishes through a catalog service.

let scene: Discovering;
let node: Provider;
let mcp: McpProcess;

const powerField = 'resourceAttributes.attributes.ratedPower.value';
const near = { latitude: 12.97, longitude: 77.59, radiusMeters: 3_000 };

function bay(id: string, kilowatts: number, [longitude, latitude]: [number, number]) {
  const location = { geo: { type: 'Point', coordinates: [longitude, latitude] } };
  const resource = charger(id, { ratedPower: { value: kilowatts, unit: 'kW' }, location });
  return { ...resource, descriptor: { name: `Charger ${id}`, shortDesc: `${kilowatts} kW` } };
}

function tariff(id: string, resourceIds: string[], value: number, validity?: Offer['validity']): Offer {
  const considerationAttributes = {
    '@context': 'https://schema.example/price',
    '@type': 'Price',
    value,
    currency: 'INR',
    unit: 'kWh',
  };
  return {
    id,
    resourceIds,
    considerations: [{ id: 'price', considerationAttributes }],
    ...(validity && { validity }),
  };
}

const provider = { id: 'p', descriptor: { name: 'Kaveri' } };
const hosted: Catalog = {
  ...{ id: 'hosted', descriptor: { name: 'Hosted' }, provider },
  resources: [
    bay('near-60', 60, [77.59, 12.971]),
    bay('near-22', 22, [77.59, 12.972]),
    bay('far-120', 120, [77.7, 13.1]),
  ],
  offers: [tariff('day', ['near-60', 'far-120'], 18), tariff('slow', ['near-22'], 9)],
};
const relayed = {
  ...{
    id: 'relayed',
    provider: { id: 'q', descriptor: { name: 'Voltpath' } },
    bppId: 'voltpath.signpost.test',
  },
  resources: [bay('other-50', 50, [77.591, 12.971]), bay('bare-50', 50, [77.592, 12.971])],
  offers: [tariff('other', ['other-50'], 15)],
};

beforeAll(async () => {
  scene = await startDiscovering({
    settings: { DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]) },
  });
  node = await startProvider(scene.network, 'kaveri');
  await node.publish({ message: { catalogs: [hosted] } });
  await crawl(scene.network.database);
  await scene.network.actor('voltpath', { url: null });
  await scene.hold([relayed]);
  mcp = await startMcp(consumerSettings(scene.network));
});
afterAll(async () => {
  await mcp?.close();
  await node?.stop();
  await scene?.network.close();
});

const ids = ({ hits }: Body) => hits.map(({ id }: Body) => id);

describe('search_network', () => {
  it('finds the cheapest that is available within a distance, and says what was verified', async () => {
    const filters = [{ field: powerField, operator: '>=', value: 50 }];
    const asked = { near, filters, available: true, sort: 'price', prove: true };
    const { structured, text } = await mcp.call('search_network', asked);
    expect(structured).toMatchObject({ matching: 2, lookedAt: 3 });
    expect(structured.hits).toMatchObject([
      {
        ...{
          id: 'other-50',
          name: 'Charger other-50',
          provider: 'Voltpath',
          prices: [{ value: 15, currency: 'INR', unit: 'kWh' }],
        },
        verified: { answerSignedBy: expect.stringContaining('discovery-service.'), files: 'unprovable' },
      },
      {
        ...{ id: 'near-60', node: node.id, distanceMeters: 111, availability: 'available' },
        verified: { files: 'proven' },
      },
    ]);
    expect(structured.hits[0].verified.reason).toContain('Relayed by a catalog service and not provable');
    expect(text).toContain('«Charger near-60»');
    expect(text).toContain('value: 15, currency: «INR», unit: «kWh»');
  });

  it('sorts by distance, pages, and says how to go on', async () => {
    const first = await mcp.call('search_network', { near, sort: 'distance', limit: 3 });
    expect(ids(first.structured)).toEqual(['near-60', 'other-50', 'near-22']);
    expect(first.structured).toMatchObject({ nextOffset: 3, matching: 4 });
    expect(first.text).toContain('Call again with offset 3');
    const second = await mcp.call('search_network', { near, sort: 'distance', limit: 3, offset: 3 });
    expect(ids(second.structured)).toHaveLength(1);
    expect(second.structured.nextOffset).toBeUndefined();
  });

  it('keeps to bounds of price, and to what has an offer', async () => {
    const cheap = await mcp.call('search_network', { text: 'charger', price: { max: 16, currency: 'INR' } });
    expect(ids(cheap.structured).sort()).toEqual(['near-22', 'other-50']);
    const none = await mcp.call('search_network', { text: 'charger', price: { max: 1 } });
    expect(none.structured).toMatchObject({ hits: [], advice: expect.stringContaining('none the price') });
  });

  it('tells the assistant what is wrong with its arguments', async () => {
    for (const [asked, reason] of [
      [{ filters: [{ field: 'ratedPower', operator: '>=', value: 50 }] }, 'describe_network lists them'],
      [{ near: { latitude: 1, longitude: 2 } }, 'near.radiusMeters is missing'],
      [{ place: 'Bengaluru' }, 'place is not allowed'],
      [{ sort: 'distance' }, 'Give near'],
    ] as const) {
      const { isError, text } = await mcp.call('search_network', asked);
      expect(isError).toBe(true);
      expect(text).toContain(reason);
    }
  });
});

describe('a discovery service that does not page', () => {
  it('is asked as well; the answer says that there may be more, and hits are counted', async () => {
    const peer = await startPeerService();
    const service = await scene.network.actor('foreign', { url: peer.url });
    const participant = { id: service.id, key: service.key } as Participant;
    const resources = Array.from({ length: 400 }, (_, index) => charger(`c${index}`));
    const some = { ...relayed, descriptor: { name: 'Foreign' }, resources, offers: [] };
    peer.answer = (request) => {
      if ('limit' in request.body.message) return onixRefusal(['limit', 'offset']);
      const isNarrow = 'textSearch' in request.body.message.intent;
      const message = { catalogs: [isNarrow ? { ...some, resources: resources.slice(0, 2) } : some] };
      const afterwards = () => callBack(request, participant, { lines: 'threeLines', message });
      return { body: ackOf(request), afterwards };
    };
    const other = await startMcp(consumerSettings(scene.network), ['--to', peer.url]);
    const { structured } = await other.call('search_network', { limit: 1 });
    expect(structured).toMatchObject({ lookedAt: 300, advice: expect.stringContaining('300 or more') });
    const why = await other.call('why_not_found', { text: 'anything', type: 'Any' });
    expect(why.structured.reasons).toEqual(['Hits without «text anything»: 300.']);
    await other.close();
    peer.close();
  });
});

describe('many calls at once', () => {
  it('are all answered, in turns', async () => {
    const calls = Array.from({ length: 50 }, (_, index) =>
      mcp.call(index % 2 === 0 ? 'search_network' : 'describe_network', { text: 'charger' }),
    );
    const answers = await Promise.all(calls);
    expect(answers.filter(({ isError }) => isError)).toEqual([]);
  });
});

describe('get_resource', () => {
  it('has all attributes and offers, and the files that prove it', async () => {
    const { structured } = await mcp.call('get_resource', {
      id: 'near-60',
      node: node.id,
      catalogId: 'hosted',
      prove: true,
    });
    expect(structured.fields).toContainEqual({ field: powerField, value: 60 });
    expect(structured.offers).toMatchObject([
      { id: 'day', applies: true, prices: [{ value: 18, currency: 'INR', unit: 'kWh' }] },
    ]);
    expect(structured.proof).toMatchObject({ status: 'proven', version: 1, differences: [] });
    expect(structured.proof.files.map(({ document }: Body) => document)).toEqual([
      'manifest',
      'record',
      'index',
      'baseline',
    ]);
  });

  it('says that the files differ, where the provider has changed them since', async () => {
    const dearer = {
      ...hosted,
      offers: [tariff('day', ['near-60', 'far-120'], 28), tariff('slow', ['near-22'], 9)],
    };
    const other = await startProvider(scene.network, 'changing');
    await other.publish({ message: { catalogs: [{ ...hosted, id: 'changing' }] } });
    await crawl(scene.network.database);
    await other.publish({ message: { catalogs: [{ ...dearer, id: 'changing' }] } });
    const { structured } = await mcp.call('get_resource', {
      id: 'near-60',
      catalogId: 'changing',
      prove: true,
    });
    expect(structured.proof).toMatchObject({ status: 'differs', differences: ['offer day.considerations'] });
    other.spoil((path, { body }) =>
      path.includes('/catalogs/') ? { body: Buffer.from(`${body} `) } : undefined,
    );
    const broken = await mcp.call('get_resource', { id: 'near-60', catalogId: 'changing', prove: true });
    expect(broken.structured.proof).toMatchObject({
      status: 'broken',
      reason: expect.stringContaining('digest'),
    });
    await other.stop();
    const gone = await mcp.call('get_resource', { id: 'near-60', catalogId: 'changing', prove: true });
    expect(gone.structured.proof).toMatchObject({ status: 'unreachable' });
  });

  it('names what it has not compared, because it is inherited', async () => {
    const provider = await startProvider(scene.network, 'heir');
    const bean = coffee('bean', { roast: 'dark' });
    const heir = { id: 'heir-1', descriptor: { name: 'My bean' } };
    const master = { ...hosted, id: 'master', resources: [bean], offers: [] };
    const regular = { ...hosted, id: 'regular', resources: [heir], offers: [] };
    const resourceDirectives = [extending('heir-1', 'bean')];
    await provider.publish({
      message: {
        catalogs: [master, regular],
        publishDirectives: [
          { catalogId: 'master', catalogType: 'MASTER' },
          { catalogId: 'regular', catalogType: 'REGULAR', resourceDirectives },
        ],
      },
    });
    await crawl(scene.network.database);
    const { structured } = await mcp.call('get_resource', { id: 'heir-1', prove: true });
    expect(structured.fields).toContainEqual({ field: 'resourceAttributes.roast', value: 'dark' });
    expect(structured.proof).toMatchObject({
      status: 'proven',
      reason: expect.stringMatching(/Not compared, .* MASTER catalog: resource\.resourceAttributes\.$/),
    });
    await provider.stop();
  });

  it('says what to do where there is no such resource', async () => {
    const { isError, text } = await mcp.call('get_resource', { id: 'nothing' });
    expect([isError, text]).toEqual([true, expect.stringContaining('no such resource')]);
  });
});

describe('a provider whose host never answers', () => {
  it('keeps no other hit from being proven', async () => {
    const slow = await startProvider(scene.network, 'slow');
    await slow.publish({ message: { catalogs: [{ ...hosted, id: 'slow' }] } });
    await crawl(scene.network.database);
    slow.spoil(() => 'taken');
    const impatient = await startMcp(consumerSettings(scene.network), ['--wait', '3']);
    const filters = [{ field: 'id', operator: '==', value: 'near-22' }];
    const { structured } = await impatient.call('search_network', { filters, prove: true });
    const files = structured.hits.map(({ catalogId, verified }: Body) => [catalogId, verified.files]);
    expect(files).toContainEqual(['slow', 'unreachable']);
    expect(files).toContainEqual(['hosted', 'proven']);
    await impatient.close();
    await slow.stop();
  });
});

describe('describe_network', () => {
  it('lists the types and the fields to filter by, with their units and values', async () => {
    const { structured } = await mcp.call('describe_network', {});
    expect(structured.types[0]).toMatchObject({ type: 'EnergyResourceEVCharger' });
    expect(structured.types[0].fields).toContainEqual({
      field: powerField,
      kind: 'number',
      unit: 'kW',
      min: 22,
      max: 120,
    });
    expect(structured.currencies).toEqual(['INR']);
  });
});

describe('why_not_found', () => {
  it('says which part of a question excludes everything', async () => {
    const filters = [{ field: powerField, operator: '>=', value: 300 }];
    const { structured } = await mcp.call('why_not_found', { text: 'charger', near, filters });
    expect(structured.found).toBe(0);
    expect(structured.reasons.at(-1)).toMatch(/^Hits without «filter .* >= 300»: \d+/);
  });

  it('says which part excludes one resource', async () => {
    const filters = [
      { field: powerField, operator: '>=', value: 50 },
      { field: 'id', operator: '==', value: 'far-120' },
    ];
    const { structured } = await mcp.call('why_not_found', { near, filters });
    expect(structured.reasons).toContainEqual(expect.stringMatching(/^Hits without «near, 3000 m»: [1-9]/));
  });

  it('examines what a node publishes', async () => {
    const { structured } = await mcp.call('why_not_found', { node: node.id, network: defaultNetwork });
    expect(structured).toMatchObject({ found: 1 });
    expect(structured.reasons.join()).toContain('«hosted»');
    const unknown = await mcp.call('why_not_found', { node: 'nobody.signpost.test' });
    expect(unknown.structured).toMatchObject({ found: 0, reasons: [expect.stringMatching(/^Broken: «/)] });
  });
});
