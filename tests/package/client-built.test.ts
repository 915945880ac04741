import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as source from '../../packages/client/src/index.ts';
import { catalog, plain } from '../support/catalogs/sample-catalogs.ts';

// The built client has validators that were compiled at build time. They report exactly the same faults as the server's.

const built: typeof source = await import(resolve('packages/client/dist/index.js'));

const point = (...coordinates: unknown[]) => ({ type: 'Point', coordinates });
const spatial = (entry: object) => ({
  spatial: [{ targets: '$.catalogs[*].provider.availableAt[*].geo', ...entry }],
});
const near = { op: 'S_DWITHIN', distanceMeters: 10 };

const catalogs: Record<string, unknown> = {
  'no id': { ...catalog('x'), id: undefined },
  'an empty id': catalog(''),
  'an id of 513 characters': catalog('x'.repeat(513)),
  'an unknown member': { ...catalog('x'), price: 1 },
  'neither resources nor offers': { ...catalog('x'), resources: undefined },
  'a resource twice': catalog('x', { resources: [plain('a'), plain('a')] }),
  'a date that is none': { ...catalog('x'), validity: { startDate: '2026-02-30' } },
  'a time that is none': { ...catalog('x'), validity: { startTime: '25:00' } },
  'a bppUri that is none': { ...catalog('x'), bppUri: 'here' },
  'attributes without @context': catalog('x', {
    resources: [{ id: 'a', resourceAttributes: { '@type': 'Lamp' } as never }],
  }),
};
const intents: Record<string, unknown> = {
  nothing: {},
  'an unknown operator': spatial({ op: 'S_NEAR', geometry: point(0, 0) }),
  'a latitude of 91': spatial({ ...near, geometry: point(0, 91) }),
  'a position of texts': spatial({ ...near, geometry: point('0', '0') }),
  'a ring that is not closed': spatial({
    op: 's_within',
    geometry: {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 1],
        ],
      ],
    },
  }),
  'no distance': spatial({ op: 'S_DWITHIN', geometry: point(0, 0) }),
  'another type of filter': { filters: { type: 'sql', expression: '1' } },
};

describe('the built client finds what the server finds', () => {
  const startWith = ({ Signpost, generateSeed }: typeof source) =>
    new Signpost({
      ...{ id: 'me.example.org', keyId: 'key-1', privateKey: generateSeed(), registry: 'http://127.0.0.1:9' },
      ...{
        callbacks: 'http://127.0.0.1:9',
        catalogService: 'http://127.0.0.1:9',
        discoveryService: 'http://127.0.0.1:9',
      },
    });
  const faultOf = async (work: Promise<unknown>) => {
    const { name, code, path, message } = await work.then(
      () => new Error('nothing was thrown') as source.SignpostError,
      (thrown: source.SignpostError) => thrown,
    );
    return { name, code, path, message };
  };
  const clients = [startWith(built), startWith(source)];

  it.each(Object.keys(catalogs))('in a catalog with %s', async (name) => {
    const [ours, servers] = await Promise.all(
      clients.map((client) => faultOf(client.publish(catalogs[name] as source.Catalog))),
    );
    expect(ours).toEqual(servers);
    expect(ours).toMatchObject({
      name: 'SignpostError',
      code: expect.stringMatching(/^SCH_/),
      path: expect.any(String),
    });
  });

  it.each(Object.keys(intents))('in an intent with %s', async (name) => {
    const [ours, servers] = await Promise.all(
      clients.map((client) => faultOf(client.discover(intents[name] as source.Intent).next())),
    );
    expect(ours).toEqual(servers);
    expect(ours).toMatchObject({
      name: 'SignpostError',
      code: expect.stringMatching(/^SCH_/),
      path: expect.any(String),
    });
  });
});
