import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import type { Catalog } from '../../../src/protocol/catalog.ts';
import { bodyDigest } from '../../../src/protocol/digest.ts';
import { findCatalog } from '../../../src/storage/catalog/catalogs.ts';
import { catalog, charger, chargerContext, offer, plain } from '../../support/catalogs/sample-catalogs.ts';
import type { Actor, Body, SendOptions } from '../../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { type Directive, publish as publishAs, searched } from '../../support/network/publish.ts';
import { comb, star } from '../../support/values/costly-geometries.ts';

// POST /catalog/publish and catalog/on_publish: which catalogs are accepted, their result, and the report to the publisher.

let network: TestNetwork;
let provider: Actor;
let rival: Actor;

beforeAll(async () => {
  network = await startNetwork();
  [provider, rival] = await Promise.all([network.actor('provider'), network.actor('rival')]);
});
afterAll(() => network.close());

/** Publishes one catalog as the provider, or as another actor, and waits for its result. */
const publish = (
  one: Catalog,
  directive?: Directive,
  { as = provider, ...options }: SendOptions & { as?: Actor } = {},
) => publishAs(as, one, directive, options);

describe('a geometry that is too costly to search among', () => {
  it('SCH_SCHEMA_VALIDATION_FAILED: is refused with its resource, and the others are published', async () => {
    const area = { ...plain('area'), zones: [{ area: star(17) }] };
    const large = { ...plain('large'), area: comb(12_500) };
    const result = await publish(catalog('areas', { resources: [plain('good'), area, large] }));
    expect(result).toMatchObject({ status: 'PARTIAL', stats: { itemCount: 1 } });
    const resources = '$.message.catalogs[0].resources';
    expect(result.errors.map(({ code, details }: Body) => [code, details.path])).toEqual([
      ['SCH_SCHEMA_VALIDATION_FAILED', `${resources}[1].zones[0].area.coordinates[0]`],
      ['SCH_SCHEMA_VALIDATION_FAILED', `${resources}[2].area`],
    ]);
  });

  it("SCH_SCHEMA_VALIDATION_FAILED: is refused with the whole catalog where it is the provider's", async () => {
    const provider = { id: 'p', descriptor: { name: 'P' }, availableAt: [{ geo: star(17) }] };
    expect(await publish(catalog('tangled', { provider }))).toMatchObject({
      status: 'REJECTED',
      errors: [
        {
          code: 'SCH_SCHEMA_VALIDATION_FAILED',
          details: { path: '$.message.catalogs[0].provider.availableAt[0].geo.coordinates[0]' },
        },
      ],
    });
  });
});

describe('a publish', () => {
  it('is acknowledged with its messageId, by a signed answer, and answered once on on_publish', async () => {
    const message = { catalogs: [catalog('answered'), catalog('answered-too')] };
    const context = { messageId: randomUUID() };
    const answer = await provider.send(actions.publish, message, { context });
    expect(answer).toMatchObject({
      status: 200,
      answerSigned: true,
      body: { message: { status: 'ACK', ...context } },
    });

    const { body, chained, signer } = await provider.waitFor('catalog/on_publish', context.messageId);
    expect(chained).toBe(true);
    expect(signer).toBe('catalog.signpost.test');
    expect(body.context).toMatchObject({ action: 'catalog/on_publish', ...context, bppId: provider.id });
    expect(body.message.results).toEqual([
      {
        catalogId: 'answered',
        status: 'ACCEPTED',
        stats: { itemCount: 1, providerCount: 1, categoryCount: 0 },
      },
      {
        catalogId: 'answered-too',
        status: 'ACCEPTED',
        stats: { itemCount: 1, providerCount: 1, categoryCount: 0 },
      },
    ]);
    expect(provider.received.filter((one) => one.body.context.messageId === context.messageId)).toHaveLength(
      1,
    );
  });

  it('is answered with the digest of its raw body', async () => {
    const context = {
      version: '2.0.0',
      action: 'catalog/publish',
      messageId: randomUUID(),
      transactionId: 't',
    };
    const more = { timestamp: new Date().toISOString(), bppId: provider.id, bppUri: provider.url };
    const raw = Buffer.from(
      JSON.stringify(
        { context: { ...context, ...more }, message: { catalogs: [catalog('digested')] } },
        null,
        3,
      ),
    );
    await provider.send(actions.publish, undefined, { raw, context: { messageId: context.messageId } });
    const { body } = await provider.waitFor('catalog/on_publish', context.messageId);
    expect(body.context.requestDigest).toEqual({ digest: bodyDigest(raw) });
  });

  it('without a directive is REGULAR, merged, and visible to the default network', async () => {
    await publish(catalog('undirected', { resources: [plain('a')] }));
    await publish(catalog('undirected', { resources: [plain('b')] }));
    expect(await findCatalog(network.database, 'undirected')).toMatchObject({
      type: 'REGULAR',
      visibleTo: ['nfh.global/beckn-nodes'],
    });
    expect((await searched(provider, 'undirected')).resources.map(({ id }: Body) => id)).toEqual(['a', 'b']);
  });

  it('goes to the networks that visibleTo names, and to the default network again when the next one names none', async () => {
    await publish(catalog('moving'), { visibleTo: ['one.example/net', 'two.example/net'] });
    expect((await findCatalog(network.database, 'moving'))?.visibleTo).toEqual([
      'one.example/net',
      'two.example/net',
    ]);
    await publish(catalog('moving'), {});
    expect((await findCatalog(network.database, 'moving'))?.visibleTo).toEqual(['nfh.global/beckn-nodes']);
  });

  it('counts accepted resources, distinct providers and distinct types', async () => {
    const one = catalog('counted', {
      resources: [charger('c1'), charger('c2'), plain('p')],
      offers: [offer('o', { provider: { id: 'another-provider' } })],
    });
    expect(await publish(one)).toMatchObject({ stats: { itemCount: 3, providerCount: 2, categoryCount: 1 } });
  });

  it('fills in bppId and bppUri where the catalog has none, and keeps those that it has', async () => {
    await publish(catalog('filled'));
    expect(await searched(provider, 'filled')).toMatchObject({ bppId: provider.id, bppUri: provider.url });
    await publish(catalog('filled', { bppUri: 'https://elsewhere.example/bpp' }));
    expect(await searched(provider, 'filled')).toMatchObject({
      bppId: provider.id,
      bppUri: 'https://elsewhere.example/bpp',
    });
  });
});

describe('MERGE', () => {
  it('puts in whole resources and offers by id and keeps the others', async () => {
    const directive = { updateMode: 'MERGE' } as const;
    await publish(
      catalog('merged', { resources: [plain('a'), plain('b')], offers: [offer('x'), offer('y')] }),
      directive,
    );
    await publish(
      catalog('merged', {
        resources: [{ id: 'b' }, plain('c')],
        offers: [offer('y', { resourceIds: ['c'] })],
      }),
      directive,
    );
    expect(await searched(provider, 'merged')).toMatchObject({
      resources: [plain('a'), { id: 'b' }, plain('c')],
      offers: [offer('x'), offer('y', { resourceIds: ['c'] })],
    });
  });

  it('replaces the catalog-level members that are given and keeps isActive and validity', async () => {
    await publish(catalog('members', { isActive: false, validity: { endDate: '2030-01-01' } }));
    await publish(catalog('members', { descriptor: { name: 'New name' } }));
    expect(await searched(provider, 'members')).toMatchObject({
      descriptor: { name: 'New name' },
      isActive: false,
      validity: { endDate: '2030-01-01' },
    });
  });

  it('accepts an offer-only catalog', async () => {
    expect(await publish(catalog('offers-only', { offers: [offer('o')] }))).toMatchObject({
      status: 'ACCEPTED',
    });
    expect((await searched(provider, 'offers-only')).resources).toBeUndefined();
  });
});

describe('FULL', () => {
  it('leaves exactly what the request brought', async () => {
    await publish(
      catalog('replaced', { resources: [plain('a'), plain('b')], offers: [offer('x')], isActive: false }),
    );
    await publish(catalog('replaced', { resources: [plain('b', 'changed')] }), { updateMode: 'FULL' });
    const now = await searched(provider, 'replaced');
    expect(now).toMatchObject({ resources: [plain('b', 'changed')] });
    expect(now).not.toHaveProperty('offers');
    expect(now).not.toHaveProperty('isActive');
  });

  it('of bad resources and a good offer is REJECTED, and the live catalog stays as it is', async () => {
    const live = catalog('live', { resources: [charger('c'), charger('d')] });
    await publish(live);
    const bad = [charger('c', { connectorType: 'Wooden' }), charger('d', { connectorType: 'Wooden' })];
    const result = await publish(catalog('live', { resources: bad, offers: [offer('o')] }), {
      updateMode: 'FULL',
    });
    expect(result).toMatchObject({ status: 'REJECTED', errors: [{}, {}] });
    const now = await searched(provider, 'live');
    expect(now).toMatchObject({ resources: live.resources });
    expect(now).not.toHaveProperty('offers');
  });

  it('tells of a served resource whose new form is refused that it is no longer served', async () => {
    await publish(catalog('falling', { resources: [charger('c'), charger('d')] }));
    const wooden = { connectorType: 'Wooden' };
    const resources = [charger('c', wooden), charger('d'), charger('e', wooden)];
    const result = await publish(catalog('falling', { resources }), { updateMode: 'FULL' });
    expect(result).toMatchObject({ status: 'PARTIAL', stats: { itemCount: 1 } });
    expect(result.errors[0].message).toMatch(/resources\[0\].*; the resource is no longer served$/);
    expect(result.errors[1].message).not.toContain('served');
    expect((await searched(provider, 'falling')).resources).toEqual([charger('d')]);
  });

  it('in which nothing is acceptable is REJECTED and changes nothing', async () => {
    await publish(catalog('kept', { resources: [charger('c')] }));
    const result = await publish(
      catalog('kept', { resources: [charger('c', { connectorType: 'Wooden' })] }),
      { updateMode: 'FULL' },
    );
    expect(result).toMatchObject({ status: 'REJECTED', errors: [{ code: 'SCH_SCHEMA_VALIDATION_FAILED' }] });
    expect(await searched(provider, 'kept')).toMatchObject({ resources: [charger('c')] });
  });
});

describe('typed attributes', () => {
  const cases: [string, Body, string][] = [
    ['an unknown connector', charger('bad', { connectorType: 'Wooden' }), 'attributes.connectorType'],
    ['a v2xProtocol on an EV_CHARGER', charger('bad', { v2xProtocol: 'CCS_BPT' }), 'attributes.v2xProtocol'],
    [
      'a negative power',
      charger('bad', { ratedPower: { value: -1, unit: 'kW' } }),
      'attributes.ratedPower.value',
    ],
  ];

  it.each(cases)(
    'SCH_SCHEMA_VALIDATION_FAILED: %s makes the catalog PARTIAL with the path of the culprit',
    async (name, bad, path) => {
      const id = `typed-${name.replaceAll(' ', '-')}`;
      const result = await publish(catalog(id, { resources: [charger('good'), bad] }));
      expect(result).toMatchObject({ status: 'PARTIAL', stats: { itemCount: 1 } });
      expect(result.errors).toHaveLength(1);
      expect(result.errors[0]).toMatchObject({
        code: 'SCH_SCHEMA_VALIDATION_FAILED',
        details: { path: `$.message.catalogs[0].resources[1].resourceAttributes.${path}` },
      });
      expect((await searched(provider, id)).resources).toEqual([charger('good')]);
    },
  );

  it('of a provider that fail reject the catalog', async () => {
    const providerAttributes = {
      '@context': chargerContext,
      '@type': 'EnergyResourceEVCharger',
      type: 'KIOSK',
    };
    const one = catalog('provider-attributes', {
      provider: { id: 'p', descriptor: { name: 'P' }, providerAttributes },
    });
    const result = await publish(one);
    expect(result).toMatchObject({ status: 'REJECTED' });
    expect(result.errors[0].details.path).toMatch(
      /^\$\.message\.catalogs\[0\]\.provider\.providerAttributes/,
    );
  });

  it('of a schema that nobody knows are accepted', async () => {
    const unknown = {
      '@context': 'https://example.org/Kettle/v1/context.jsonld',
      '@type': 'Kettle',
      litres: 'two',
    };
    const one = catalog('unknown-context', { resources: [{ id: 'k', resourceAttributes: unknown }] });
    expect(await publish(one)).toMatchObject({ status: 'ACCEPTED' });
  });
});

describe('ownership', () => {
  it("AUT_UNAUTHORIZED_ACTION: another publisher's catalog id is REJECTED", async () => {
    await publish(catalog('mine', { resources: [plain('original')] }));
    const result = await publish(catalog('mine', { resources: [plain('stolen')] }), undefined, { as: rival });
    expect(result).toMatchObject({ status: 'REJECTED', errors: [{ code: 'AUT_UNAUTHORIZED_ACTION' }] });
    expect((await searched(provider, 'mine')).resources).toEqual([plain('original')]);
  });

  it('AUT_UNAUTHORIZED_ACTION: a catalog whose bppId names somebody else is REJECTED', async () => {
    const result = await publish(catalog('pretending', { bppId: rival.id }));
    expect(result).toMatchObject({
      status: 'REJECTED',
      errors: [{ code: 'AUT_UNAUTHORIZED_ACTION', details: { path: '$.message.catalogs[0].bppId' } }],
    });
  });

  it('BIZ_GENERIC_ERROR: a catalog never changes its type', async () => {
    await publish(catalog('typed'), { catalogType: 'REGULAR' });
    const result = await publish(catalog('typed'), { catalogType: 'MASTER' });
    expect(result).toMatchObject({ status: 'REJECTED', errors: [{ code: 'BIZ_GENERIC_ERROR' }] });
  });

  it('two first publishes of one id at the same moment have one winner', async () => {
    for (let round = 0; round < 5; round += 1) {
      const one = catalog(`raced-${round}`);
      const results = await Promise.all([publish(one), publish(one, undefined, { as: rival })]);
      expect(results.map(({ status }) => status).sort()).toEqual(['ACCEPTED', 'REJECTED']);
    }
  });
});
