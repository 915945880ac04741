import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register as registerCatalogCommand } from '../../../src/cli/catalog.ts';
import { actions } from '../../../src/protocol/actions.ts';
import {
  coffee,
  coffeeContext,
  energy,
  extending,
  publishExtending,
  publishMaster,
  retail,
  servedResource,
  startMasterNetwork,
  storedOwn,
} from '../../support/catalogs/masters.ts';
import { catalog, plain } from '../../support/catalogs/sample-catalogs.ts';
import type { Actor } from '../../support/network/actor.ts';
import type { TestNetwork } from '../../support/network/network.ts';
import { type Directive, publish } from '../../support/network/publish.ts';
import { runCommand } from '../../support/processes/command.ts';

// REGULAR resources that extend master resources (catalog spec: resourceDirectives).

let network: TestNetwork;
let facilitator: Actor;
let provider: Actor;

beforeAll(async () => {
  ({ network, facilitator, provider } = await startMasterNetwork());
});
afterAll(() => network.close());

describe('a resource that extends a master resource', () => {
  beforeAll(async () => {
    const template = coffee(
      'template',
      { weight: { value: 200, unit: 'g' }, tags: ['a', 'b'] },
      { shortDesc: 'Ground', code: 'C' },
    );
    await publishMaster(facilitator, catalog('templates', { resources: [template] }));
  });

  it('inherits its attributes and its descriptor, and adds to both', async () => {
    const own = {
      id: 'r',
      descriptor: { name: 'Our coffee' },
      resourceAttributes: {
        '@context': coffeeContext,
        '@type': 'Coffee',
        weight: { gross: 220 },
        brand: 'B',
      },
    };
    expect(
      await publishExtending(provider, catalog('inheriting', { resources: [own] }), 'template'),
    ).toMatchObject({
      status: 'ACCEPTED',
    });
    expect(await servedResource(network.database, 'inheriting', 'r')).toEqual({
      id: 'r',
      descriptor: { name: 'Our coffee', shortDesc: 'Ground', code: 'C' },
      resourceAttributes: {
        '@context': coffeeContext,
        '@type': 'Coffee',
        weight: { value: 200, unit: 'g', gross: 220 },
        tags: ['a', 'b'],
        brand: 'B',
      },
    });
    expect(await storedOwn(network.database, 'inheriting', 'r')).toEqual(own);
  });

  it('needs no attributes of its own, and then has those of the template in every respect', async () => {
    await publishExtending(provider, catalog('bare', { resources: [{ id: 'r' }] }), 'template');
    const { rows } = await network.database.query(
      "select schema_types from catalog.catalog where id = 'bare'",
    );
    expect(rows).toEqual([{ schema_types: [coffeeContext, `${coffeeContext}#Coffee`] }]);
  });

  const changes: [string, object, string][] = [
    ['a scalar', { weight: { value: 100 } }, '.weight.value'],
    ['an array', { tags: ['a'] }, '.tags'],
    ['an object by a scalar', { weight: 200 }, '.weight'],
    ['its @type', { '@type': 'Tea' }, "['@type']"],
  ];
  it.each(changes)('BIZ_GENERIC_ERROR: cannot change %s', async (_what, attributes, path) => {
    const own = [
      coffee('changing', attributes),
      coffee('same', { weight: { value: 200 }, tags: ['a', 'b'] }),
    ];
    const result = await publishExtending(provider, catalog('immutable', { resources: own }), 'template');
    expect(result).toMatchObject({ status: 'PARTIAL', stats: { itemCount: 1 } });
    expect(result.errors).toEqual([
      {
        code: 'BIZ_GENERIC_ERROR',
        message: expect.stringContaining('template'),
        details: { path: `$.message.catalogs[0].resources[0].resourceAttributes${path}` },
      },
    ]);
    expect(await servedResource(network.database, 'immutable', 'changing')).toBeUndefined();
  });

  it('BIZ_GENERIC_ERROR: cannot change its descriptor, and is told both values', async () => {
    const own = { id: 'r', descriptor: { shortDesc: 'Whole beans', code: 'C' } };
    const result = await publishExtending(provider, catalog('renaming', { resources: [own] }), 'template');
    expect(result).toMatchObject({ status: 'REJECTED' });
    expect(result.errors).toEqual([
      {
        code: 'BIZ_GENERIC_ERROR',
        message: expect.stringContaining('is "Whole beans", but "Ground" in the master resource template'),
        details: { path: '$.message.catalogs[0].resources[0].descriptor.shortDesc' },
      },
    ]);
  });

  it.each([
    ['unknown to everyone', 'nowhere', {}],
    ['a resource of a REGULAR catalog', 'regular-1', {}],
    ['in a MASTER catalog of other networks', 'template', { visibleTo: [energy] }],
    ['in a MASTER catalog of a network that is not named', 'template', { visibleTo: undefined }],
  ])('BIZ_GENERIC_ERROR: is rejected when that is %s', async (_what, masterResourceId, directive) => {
    await publish(provider, catalog('regular', { resources: [plain('regular-1')] }), { visibleTo: [retail] });
    const one = catalog('mistaken', { resources: [plain('r')] });
    expect(await publishExtending(provider, one, masterResourceId, directive)).toMatchObject({
      status: 'REJECTED',
      errors: [
        {
          code: 'BIZ_GENERIC_ERROR',
          message: expect.stringContaining(
            'only masters that were published through this catalog service can be extended here',
          ),
          details: {
            path: '$.message.publishDirectives[0].resourceDirectives[0].extends.masterResourceId',
          },
        },
      ],
    });
  });

  it('finds it in a MASTER catalog that shares one of its networks', async () => {
    const one = catalog('sharing', { resources: [plain('r')] });
    const result = await publishExtending(provider, one, 'template', { visibleTo: [energy, retail] });
    expect(result).toMatchObject({ status: 'ACCEPTED' });
  });

  it('may come in one request with its master, in whatever order', async () => {
    const message = {
      catalogs: [
        catalog('together', { resources: [plain('r')] }),
        catalog('together-master', { resources: [coffee('together-template', { roast: 'dark' })] }),
      ],
      publishDirectives: [
        {
          catalogId: 'together',
          catalogType: 'REGULAR',
          resourceDirectives: [extending('r', 'together-template')],
        },
        { catalogId: 'together-master', catalogType: 'MASTER' },
      ],
    };
    const { messageId } = await facilitator.send(actions.publish, message);
    const { body } = await facilitator.waitFor('catalog/on_publish', messageId);
    expect(body.message.results).toMatchObject([
      { catalogId: 'together', status: 'ACCEPTED' },
      { catalogId: 'together-master', status: 'ACCEPTED' },
    ]);
    expect((await servedResource(network.database, 'together', 'r')).resourceAttributes).toMatchObject({
      roast: 'dark',
    });
  });

  it('keeps extending it when a MERGE does not repeat the directive, and does not after a FULL', async () => {
    await publishExtending(provider, catalog('keeping', { resources: [plain('r')] }), 'template');
    const renamed = catalog('keeping', { resources: [plain('r', 'renamed')] });
    await publish(provider, renamed, { visibleTo: [retail] });
    expect(await servedResource(network.database, 'keeping', 'r')).toMatchObject({
      descriptor: { name: 'renamed', shortDesc: 'Ground' },
      resourceAttributes: { weight: { value: 200 } },
    });
    await publish(provider, renamed, { visibleTo: [retail], updateMode: 'FULL' });
    expect(await servedResource(network.database, 'keeping', 'r')).toEqual(plain('r', 'renamed'));
  });

  describe('as a variant', () => {
    const variant = (id: string) => ({ type: 'geo', id, label: `The ${id} one` });
    const publishVariants = (variants: Record<string, string>, directive: Directive = {}) => {
      const resources = Object.keys(variants).map((id) => plain(id));
      const resourceDirectives = Object.entries(variants).map(([id, of]) =>
        extending(id, 'template', variant(of)),
      );
      const one = catalog('variants', { resources });
      return publish(provider, one, { visibleTo: [retail], resourceDirectives, ...directive });
    };

    it('is unique in its catalog by master resource, type and id', async () => {
      expect(await publishVariants({ a: 'north', b: 'south' })).toMatchObject({ status: 'ACCEPTED' });
      expect(await publishVariants({ c: 'north', d: 'east' })).toMatchObject({
        status: 'PARTIAL',
        stats: { itemCount: 1 },
        errors: [
          {
            code: 'BIZ_GENERIC_ERROR',
            details: { path: '$.message.publishDirectives[0].resourceDirectives[0].variant' },
          },
        ],
      });
    });

    it('is shown by catalog show, with what it extends', async () => {
      const { out } = await runCommand(registerCatalogCommand, ['catalog', 'show', 'variants'], {
        DATABASE_URL: network.databaseUrl,
        LOG_LEVEL: 'silent',
      });
      expect(out).toMatch(/^RESOURCE +EXTENDS +VARIANT$/m);
      expect(out).toMatch(/^a +template +geo north \(The north one\)$/m);
    });

    it('can be swapped in one publish, and taken over in a FULL one', async () => {
      expect(await publishVariants({ a: 'south', b: 'north' })).toMatchObject({ status: 'ACCEPTED' });
      expect(await publishVariants({ e: 'north' }, { updateMode: 'FULL' })).toMatchObject({
        status: 'ACCEPTED',
      });
    });

    it('SCH_SCHEMA_VALIDATION_FAILED: that a request names twice is refused at once', async () => {
      const { status, body } = await provider.send(actions.publish, {
        catalogs: [catalog('twice', { resources: [plain('a'), plain('b')] })],
        publishDirectives: [
          {
            catalogId: 'twice',
            catalogType: 'REGULAR',
            resourceDirectives: ['a', 'b'].map((id) => extending(id, 'template', variant('north'))),
          },
        ],
      });
      expect({ status, error: body.message.error }).toMatchObject({
        status: 400,
        error: {
          code: 'SCH_SCHEMA_VALIDATION_FAILED',
          details: { path: '$.message.publishDirectives[0].resourceDirectives[1].variant' },
        },
      });
    });
  });
});
