import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register as registerCatalogCommand } from '../../../src/cli/catalog.ts';
import { actions } from '../../../src/protocol/actions.ts';
import type { Catalog, Resource } from '../../../src/protocol/catalog.ts';
import { catalog, charger, chargerContext, offer, plain } from '../../support/catalogs/sample-catalogs.ts';
import type { Actor } from '../../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { type Directive, publish as publishAs, searched } from '../../support/network/publish.ts';
import { runCommand } from '../../support/processes/command.ts';

// Probable mistakes in a publish that are not errors (protocol decision: publish, warnings).

let network: TestNetwork;
let provider: Actor;

beforeAll(async () => {
  network = await startNetwork();
  provider = await network.actor('provider', { networks: ['nfh.global/beckn-nodes', 'own.example/net'] });
});
afterAll(() => network?.close());

const publish = (one: Catalog, directive?: Directive) => publishAs(provider, one, directive);

const show = (id: string, url = network.databaseUrl) =>
  runCommand(registerCatalogCommand, ['catalog', 'show', id], { DATABASE_URL: url, LOG_LEVEL: 'silent' });

function ofContext(id: string, context: string): Resource {
  const { resourceAttributes, ...rest } = charger(id);
  return { ...rest, resourceAttributes: { ...resourceAttributes, '@context': context } as never };
}

describe('a publish is answered with a warning, and its status stays,', () => {
  it('for an @context that no schema is known for while a known one is close, once', async () => {
    const old = chargerContext.replace('v1.1', 'v1.0');
    const resources = [charger('good'), ofContext('a', old), ofContext('b', old)];
    const result = await publish(catalog('old-version', { resources }));
    expect(result).toMatchObject({ status: 'ACCEPTED', stats: { itemCount: 3 } });
    expect(result.errors).toBeUndefined();
    expect(result.warnings).toEqual([
      {
        message: expect.stringContaining(`Did you mean ${chargerContext}?`),
        details: { path: "$.message.catalogs[0].resources[1].resourceAttributes['@context']" },
      },
    ]);
    const strange = await publish(
      catalog('other-schema', {
        resources: [ofContext('a', 'https://example.org/Kettle/v1/context.jsonld')],
      }),
    );
    expect(strange).not.toHaveProperty('warnings');
  });

  it('for an offer for a resource that no catalog of the publisher holds', async () => {
    await publish(catalog('shop', { resources: [plain('shop-1'), plain('shop-2')] }));
    const offers = [
      offer('o', { resourceIds: ['shop-2', 'new', 'shpo-1'] }),
      offer('p', { resourceIds: ['shpo-1'] }),
    ];
    const result = await publish(catalog('offers', { resources: [plain('new')], offers }));
    expect(result).toMatchObject({ status: 'ACCEPTED' });
    expect(result.warnings).toEqual([
      {
        message: expect.stringContaining('is shpo-1, which no catalog of yours has'),
        details: { path: '$.message.catalogs[0].offers[0].resourceIds[2]' },
      },
    ]);
  });

  it('and an offer is for what a MERGE keeps, not for what a FULL removes, and for other catalogs of the same message', async () => {
    await publish(catalog('kept', { resources: [plain('kept-1')] }));
    const merged = await publish(catalog('kept', { offers: [offer('o', { resourceIds: ['kept-1'] })] }));
    expect(merged).not.toHaveProperty('warnings');
    const full = await publish(
      catalog('kept', { resources: [plain('kept-2')], offers: [offer('o', { resourceIds: ['kept-1'] })] }),
      { updateMode: 'FULL' },
    );
    expect(full.warnings).toHaveLength(1);
    const { messageId } = await provider.send(actions.publish, {
      catalogs: [
        catalog('first', { offers: [offer('o', { resourceIds: ['second-1'] })] }),
        catalog('second', { resources: [plain('second-1')] }),
      ],
    });
    const { body } = await provider.waitFor('catalog/on_publish', messageId);
    expect(JSON.stringify(body.message.results)).not.toContain('which no catalog of yours has');
  });

  it('for a catalog of offers alone, and for an offer that covers nothing in its own catalog', async () => {
    await publish(catalog('stock', { resources: [plain('stock-1')] }));
    const alone = await publish(
      catalog('offers-alone', { resources: undefined, offers: [offer('o', { resourceIds: ['stock-1'] })] }),
    );
    expect(alone).toMatchObject({ status: 'ACCEPTED' });
    const says = 'searches ignore it, and list it only with resources of your other catalogs';
    expect(alone.warnings).toEqual([
      {
        message: expect.stringContaining(`is in a catalog without resources: ${says}`),
        details: { path: '$.message.catalogs[0].offers' },
      },
    ]);
    const offers = [
      offer('own', { resourceIds: ['mixed-1', 'stock-1'] }),
      offer('foreign', { resourceIds: ['stock-1'] }),
      offer('all'),
      offer('other', { provider: { id: 'another', descriptor: { name: 'Another' } } as never }),
    ];
    const mixed = await publish(catalog('mixed', { resources: [plain('mixed-1')], offers }));
    expect(mixed.warnings).toEqual([
      {
        message: expect.stringContaining(`names no resource of this catalog: ${says}`),
        details: { path: '$.message.catalogs[0].offers[1].resourceIds' },
      },
      {
        message: expect.stringContaining(`is not the provider of this catalog: ${says}`),
        details: { path: '$.message.catalogs[0].offers[3].provider.id' },
      },
    ]);
  });

  it('for a network that the publisher is no member of and nobody subscribes to', async () => {
    const visibleTo = ['own.example/net', 'subscribed.example/net', 'tpyo.example/net'];
    const subscriber = await network.actor('subscriber');
    await subscriber.send(actions.subscribe, { subscription: { networkIds: ['subscribed.example/net'] } });
    const result = await publish(catalog('networks'), { visibleTo });
    expect(result).toMatchObject({ status: 'ACCEPTED' });
    expect(result.warnings).toEqual([
      {
        message: expect.stringContaining('names tpyo.example/net'),
        details: { path: '$.message.publishDirectives[0].visibleTo' },
      },
    ]);
  });

  it('for each member that receivers with closed schemas do not get, once, and not for a rating or a date', async () => {
    const place = { address: { streetAddress: 's', door: '4' } };
    const descriptor = { name: 'Shop', short_desc: 's', mediaFile: [{ uri: 'u', url: 'u' }] };
    const validity = { startDate: '2026-01-01', timezone: 'IST' };
    const result = await publish(
      catalog('loose', {
        provider: { id: 'p', descriptor, rating: 5, logo: 'l', availableAt: [place] } as never,
        resources: [
          { id: 'a', descriptor, anything: 1 },
          { id: 'b', descriptor },
        ] as never,
        offers: [offer('o', { validity: validity as never, addOns: [{ size: 1 }] })],
      }),
    );
    expect(result).toMatchObject({ status: 'ACCEPTED' });
    const at = (path: string) => `$.message.catalogs[0].${path}`;
    expect(result.warnings.map(({ details }: { details: { path: string } }) => details.path)).toEqual([
      at('provider.descriptor.short_desc'),
      at('provider.descriptor.mediaFile[0].url'),
      at('provider.logo'),
      at('provider.availableAt[0]'),
      at('offers[0].validity.timezone'),
      at('offers[0].addOns[0]'),
    ]);
    expect(result.warnings[0].message).toBe(
      'message.catalogs[0].provider.descriptor.short_desc is not a known member of Descriptor: receivers with closed schemas do not get it',
    );
    expect(result.warnings[3].message).toContain('availableAt[0] has no geo');
    expect(result.warnings[5].message).toContain('addOns[0] has no id');
    expect((await searched(provider, 'loose'))?.provider).toMatchObject({ logo: 'l', descriptor });
    expect((await show('loose')).out).toMatch(
      /^loose: warning: .*provider\.logo is not a known member of Provider/m,
    );
  });
});

it('The operator sees the warnings and errors of the latest publish, also of a catalog that was never accepted', async () => {
  await publish(catalog('shown'), { visibleTo: ['tpyo.example/net'] });
  const { out } = await show('shown');
  expect(out).toMatch(/ACCEPTED +0 +1 +provider\.signpost\.test/);
  expect(out).toMatch(/^shown: warning: .*tpyo\.example\/net/m);
  await publish(catalog('never', { resources: [charger('c', { connectorType: 'Wooden' })] }));
  const never = await show('never');
  expect(never).toMatchObject({ exitCode: 0 });
  expect(never.out).toContain('no publish of it has been accepted');
  expect(never.out).toMatch(/^never: .*connectorType.*SCH_SCHEMA_VALIDATION_FAILED/m);
});

it('With PUBLISH_WARNINGS=false no publisher is sent warnings; the operator sees them', async () => {
  const usual = await startNetwork({ settings: { PUBLISH_WARNINGS: 'false' } });
  try {
    const actor = await usual.actor('provider');
    const result = await publishAs(actor, catalog('quiet'), { visibleTo: ['tpyo.example/net'] });
    expect(Object.keys(result)).toEqual(['catalogId', 'status', 'stats']);
    expect((await show('quiet', usual.databaseUrl)).out).toMatch(/^quiet: warning: .*tpyo/m);
  } finally {
    await usual.close();
  }
});
