import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import type { Catalog } from '../../src/protocol/catalog.ts';
import { findCatalog } from '../../src/storage/catalog/catalogs.ts';
import {
  coffee,
  extending,
  publishExtending,
  publishMaster,
  rebuilt,
  retail,
} from '../support/catalogs/masters.ts';
import { catalog, plain } from '../support/catalogs/sample-catalogs.ts';
import type { Actor, Body } from '../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type Directive, publish, served } from '../support/network/publish.ts';

// Inherited bytes are limited: a publish of 50 kB could otherwise become gigabytes.

const kibibyte = 1024;

/** A template of about `bytes`. */
function template(id: string, bytes: number, attributes: object = {}) {
  return coffee(id, { ...attributes, text: 'x'.repeat(bytes) });
}

function bare(id: string, count: number): Catalog {
  return catalog(id, { resources: Array.from({ length: count }, (_, index) => ({ id: `${id}-${index}` })) });
}

const idsOf = (one: Body) => one?.resources?.map(({ id }: Body) => id).sort() ?? [];
const errorsOf = ({ errors = [] }: Body) => errors.map(({ code, message }: Body) => `${code} ${message}`);

describe('with limits of a few kibibytes', () => {
  let network: TestNetwork;
  let facilitator: Actor;

  beforeAll(async () => {
    const settings = {
      INHERITED_RESOURCE_LIMIT: '3kb',
      INHERITED_CATALOG_LIMIT: '8kb',
      INHERITED_PUBLISH_LIMIT: '12kb',
      INHERITED_PUBLISHER_LIMIT: '20kb',
    };
    network = await startNetwork({ settings });
    facilitator = await network.actor('facilitator');
    const resources = [template('small', 1_800), template('large', 3 * kibibyte)];
    await publishMaster(facilitator, catalog('templates', { resources }));
  });
  afterAll(() => network.close());

  it('BIZ_GENERIC_ERROR: a resource that would inherit more than one may is rejected with the size, the others are not', async () => {
    const provider = await network.actor('one-too-large');
    const one = catalog('mixed', { resources: [plain('own'), { id: 'fits' }, { id: 'too-large' }] });
    const resourceDirectives = [extending('fits', 'small'), extending('too-large', 'large')];
    const result = await publish(provider, one, { visibleTo: [retail], resourceDirectives });
    expect(result).toMatchObject({ status: 'PARTIAL', stats: { itemCount: 2 } });
    expect(errorsOf(result)).toEqual([
      expect.stringMatching(
        /^BIZ_GENERIC_ERROR message\.catalogs\[0\]\.resources\[2\] would inherit 3\d{3} bytes of the master resource large; at most 3072 are allowed$/,
      ),
    ]);
    expect(idsOf(await served(network.database, 'mixed'))).toEqual(['fits', 'own']);
  });

  it('BIZ_GENERIC_ERROR: of a small template many times, a catalog has what fits, also over several publishes', async () => {
    const provider = await network.actor('many-times');
    const result = await publishExtending(provider, bare('many', 6), 'small');
    expect(result).toMatchObject({ status: 'PARTIAL', stats: { itemCount: 4 } });
    expect(errorsOf(result)[0]).toMatch(
      /would make its catalog inherit 9\d{3} bytes; at most 8192 are allowed$/,
    );
    const more = catalog('many', { resources: [{ id: 'one-more' }] });
    expect(await publishExtending(provider, more, 'small')).toMatchObject({ status: 'REJECTED' });
    expect(await publishExtending(provider, bare('many', 2), 'small')).toMatchObject({ status: 'ACCEPTED' });
    const fewer = { updateMode: 'FULL' as const };
    expect(await publishExtending(provider, bare('many', 1), 'small', fewer)).toMatchObject({
      status: 'ACCEPTED',
    });
    expect(await publishExtending(provider, more, 'small')).toMatchObject({ status: 'ACCEPTED' });
    expect(idsOf(await served(network.database, 'many'))).toEqual(['many-0', 'one-more']);
  });

  it('BIZ_GENERIC_ERROR: catalogs of one publish inherit no more together than a publish may', async () => {
    const provider = await network.actor('one-publish');
    const catalogs = ['first', 'second'].map((id) => bare(id, 4));
    const publishDirectives = catalogs.map(({ id, resources = [] }) => ({
      ...{ catalogId: id, catalogType: 'REGULAR', visibleTo: [retail] },
      resourceDirectives: resources.map((resource) => extending(resource.id, 'small')),
    }));
    const { messageId } = await provider.send(actions.publish, { catalogs, publishDirectives });
    const { body } = await provider.waitFor('catalog/on_publish', messageId);
    const [first, second] = body.message.results;
    expect(first).toMatchObject({ status: 'ACCEPTED' });
    expect(second).toMatchObject({ status: 'PARTIAL', stats: { itemCount: 2 } });
    expect(errorsOf(second)[0]).toMatch(/would make this publish inherit 13\d{3} bytes; at most 12288/);
  });

  it('BIZ_GENERIC_ERROR: catalogs of one publisher inherit no more together than a publisher may', async () => {
    const provider = await network.actor('one-publisher');
    for (const id of ['shop-1', 'shop-2'])
      expect(await publishExtending(provider, bare(id, 4), 'small')).toMatchObject({ status: 'ACCEPTED' });
    const third = await publishExtending(provider, bare('shop-3', 4), 'small');
    expect(third).toMatchObject({ status: 'PARTIAL', stats: { itemCount: 2 } });
    expect(errorsOf(third)[0]).toMatch(/the catalogs of its publisher inherit 21\d{3} bytes; at most 20480/);
    const neighbour = await network.actor('another-publisher');
    expect(await publishExtending(neighbour, bare('other-shop', 4), 'small')).toMatchObject({
      status: 'ACCEPTED',
    });
    // Removing a catalog frees space.
    const without = catalog('shop-1', { resources: [plain('p')] });
    await publish(provider, without, { visibleTo: [retail], updateMode: 'FULL' });
    expect(await publishExtending(provider, bare('shop-3', 4), 'small')).toMatchObject({
      status: 'ACCEPTED',
    });
  });

  describe('a new version of a master', () => {
    const grow = (id: string, bytes: number, edition: number) =>
      publishMaster(facilitator, catalog(id, { resources: [template(`of-${id}`, bytes, { edition })] }));
    const editions = async (id: string) =>
      (await served(network.database, id)).resources.map((one: Body) => one.resourceAttributes.edition);

    it('that one resource cannot inherit leaves dependents what they inherited last, and they can be published again', async () => {
      const provider = await network.actor('outgrown');
      await grow('growing', 100, 1);
      await publishExtending(provider, bare('outgrown', 2), 'of-growing');
      await grow('growing', 4 * kibibyte, 2);
      await rebuilt(network.database);
      expect(await editions('outgrown')).toEqual([1, 1]);
      const named = catalog('outgrown', { resources: [{ id: 'outgrown-0', descriptor: { name: 'Again' } }] });
      expect(await publish(provider, named, { visibleTo: [retail] })).toMatchObject({ status: 'ACCEPTED' });
      const { resources } = await served(network.database, 'outgrown');
      expect(resources[0]).toMatchObject({
        descriptor: { name: 'Again' },
        resourceAttributes: { edition: 1 },
      });
      const more = catalog('outgrown', { resources: [{ id: 'outgrown-new' }] });
      expect(await publishExtending(provider, more, 'of-growing')).toMatchObject({ status: 'REJECTED' });
      await grow('growing', 200, 3);
      await rebuilt(network.database);
      expect(await editions('outgrown')).toEqual([3, 3]);
    });

    it('that all resources of a catalog cannot inherit together is inherited by those that it fits', async () => {
      const provider = await network.actor('crowded');
      await grow('swelling', 100, 1);
      await publishExtending(provider, bare('crowded', 5), 'of-swelling');
      await grow('swelling', 2 * kibibyte, 2);
      await rebuilt(network.database);
      expect((await editions('crowded')).sort()).toEqual([1, 1, 2, 2, 2]);
      expect((await findCatalog(network.database, 'crowded'))?.inheritedBytes).toBeLessThanOrEqual(
        8 * kibibyte,
      );
      await expectCounted(network);
    });
  });

  it('each template is stored once for a catalog, and as long as one of its resources inherits it', async () => {
    const provider = await network.actor('counted');
    const kept = async () => {
      const { rows } = await network.database.query<{ id: string; uses: number }>(
        `select master_resource_id as id, uses from catalog.inherited
         where catalog_key = (select key from catalog.catalog where id = 'counted') order by 1`,
      );
      return Object.fromEntries(rows.map(({ id, uses }) => [id, uses]));
    };
    const resources = [template('left', 10), template('right', 20)];
    await publishMaster(facilitator, catalog('pair', { resources }));
    const extend = (masterResourceId: string, ids: string[], directive: Directive = {}) =>
      publishExtending(
        provider,
        catalog('counted', { resources: ids.map((id) => ({ id })) }),
        masterResourceId,
        directive,
      );
    await extend('left', ['a', 'b', 'c']);
    expect(await kept()).toEqual({ left: 3 });
    await extend('right', ['b', 'd']);
    expect(await kept()).toEqual({ left: 2, right: 2 });
    await extend('left', ['a']);
    expect(await kept()).toEqual({ left: 2, right: 2 });
    await extend('right', ['a', 'c']);
    expect(await kept()).toEqual({ right: 4 });
    await extend('left', ['e'], { updateMode: 'FULL' });
    expect(await kept()).toEqual({ left: 1 });
    await expectCounted(network);
  });

  it('the counts are right after any history of publishes and masters', async () => {
    const provider = await network.actor('any-history');
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const step = fc.record({
      chosen: fc.subarray(ids, { minLength: 1 }),
      extended: fc.constantFrom(undefined, 'odd', 'even'),
      updateMode: fc.constantFrom('MERGE' as const, 'FULL' as const),
      /** Bytes of the changed master. */
      bytes: fc.option(fc.nat(2_500)),
    });
    await publishMaster(
      facilitator,
      catalog('numbers', { resources: [template('odd', 1), template('even', 1)] }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        for (const { chosen, extended, updateMode, bytes } of steps) {
          if (bytes !== null)
            await publishMaster(facilitator, catalog('numbers', { resources: [template('odd', bytes)] }));
          const one = catalog('history', { resources: chosen.map((id) => ({ id })) });
          const resourceDirectives = extended && chosen.map((id) => extending(id, extended));
          await publish(provider, one, { visibleTo: [retail], updateMode, resourceDirectives });
        }
        await rebuilt(network.database);
        await expectCounted(network);
      }),
      { numRuns: 8 },
    );
  });
});

/** The sums equal the rows. */
async function expectCounted({ database }: TestNetwork): Promise<void> {
  const { rows: wrong } = await database.query(
    `select catalog_key, master_key, master_resource_id, edition, uses, counted.count
     from catalog.inherited full join (
       select catalog_key, master_key, master_resource_id, edition, count(*) from catalog.resource
       where master_key is not null group by 1, 2, 3, 4
     ) as counted using (catalog_key, master_key, master_resource_id, edition)
     where uses is distinct from counted.count`,
  );
  expect(wrong).toEqual([]);
  const { rows: wrongSums } = await database.query(
    `select id, inherited_bytes from catalog.catalog
     where inherited_bytes <> (select coalesce(sum(bytes * uses), 0) from catalog.inherited where catalog_key = key)`,
  );
  expect(wrongSums).toEqual([]);
}

describe('with the limits of the settings', () => {
  it('BIZ_GENERIC_ERROR: 50 kB that extend a template of 4 MB 500 times are refused, and what may be inherited is accepted', async () => {
    const network = await startNetwork({ settings: { ROLES: 'registry,catalog' } });
    try {
      const [facilitator, provider] = [await network.actor('facilitator'), await network.actor('provider')];
      const resources = [template('huge', 4_000_000), template('allowed', 1_000_000)];
      await publishMaster(facilitator, catalog('templates', { resources }));
      const refused = await publishExtending(provider, bare('refused', 500), 'huge');
      expect(refused).toMatchObject({ status: 'REJECTED' });
      expect(refused.errors).toHaveLength(500);
      const result = await publishExtending(provider, bare('allowed', 70), 'allowed');
      expect(result).toMatchObject({ status: 'PARTIAL', stats: { itemCount: 67 } });
      expect(errorsOf(result)[0]).toMatch(/would make its catalog inherit 68\d{6} bytes; at most 67108864/);
      const { rows } = await network.database.query<{ count: number; bytes: number }>(
        `select count(*), min(octet_length(assembled::text)) as bytes from catalog.resource where edition is not null`,
      );
      expect(rows).toEqual([{ count: 67, bytes: expect.any(Number) }]);
      expect(rows[0]?.bytes).toBeGreaterThan(1_000_000);
      await expectCounted(network);

      // A new version that nothing can inherit: its dependents are checked together.
      await publishMaster(facilitator, catalog('templates', { resources: [template('allowed', 4_000_000)] }));
      await rebuilt(network.database);
      const { rows: looks } = await network.database.query(
        'select count(distinct xmin::text) as transactions from catalog.resource where master_version = 2',
      );
      expect(looks).toEqual([{ transactions: 1 }]);
    } finally {
      await network.close();
    }
  });
});
