import type { Json } from '../protocol/json.ts';
import { Pagination } from '../protocol/shapes.ts';
import { requireCallback } from './callback.ts';
import type { CatalogScene } from './catalog-scene.ts';
import { type Check, CheckSkipped } from './check.ts';
import { at, expectEqual, expectShape, expectStatus, expectThat, listAt, show } from './expect.ts';
import { resultOf } from './publish-checks.ts';
import { refusal } from './request-checks.ts';
import { chargerContext } from './sample-catalogs.ts';

// What becomes of a published catalog: merged or replaced, assembled with its master, found by a search.

type CatalogCheck = Check<CatalogScene>;

const directives = 'Catalog spec: publishDirectives';
const searching = 'Catalog spec: POST /catalog/search';

export const updateChecks: readonly CatalogCheck[] = [
  {
    name: 'merge-retains',
    clause: `${directives}, updateMode MERGE`,
    expects: 'resources that a MERGE does not name are retained',
    async run(scene) {
      requireCallback(await scene.merged());
      const ids = resourceIds(await regular(scene, 'chargers'));
      expectThat(ids.includes(scene.samples.id('r1')), `after the MERGE there are ${show(ids)}`);
    },
  },
  {
    name: 'merge-upserts',
    clause: `${directives}, updateMode MERGE`,
    expects: 'resources of a MERGE are added, or take the place of those with their id',
    async run(scene) {
      requireCallback(await scene.merged());
      const { id } = scene.samples;
      const resources = listAt(await regular(scene, 'chargers'), 'resources');
      const nameOf = (name: string) =>
        at(
          resources.find((one) => at(one, 'id') === id(name)),
          'descriptor',
          'name',
        );
      expectEqual(nameOf('r2'), 'changed', 'the name of the resource that was changed');
      expectThat(nameOf('r3') !== undefined, 'the resource that was added is not there');
    },
  },
  {
    name: 'merge-default',
    clause: `${directives}, updateMode, default MERGE`,
    expects: 'resources that an update without updateMode does not name are retained',
    async run(scene) {
      requireCallback(await scene.updated());
      const ids = resourceIds(await regular(scene, 'chargers'));
      const names = ['r1', 'r2', 'r3', 'r5'].filter((name) => !ids.includes(scene.samples.id(name)));
      expectThat(names.length === 0, `${names.join(', ')} are not there any more: there are ${show(ids)}`);
    },
  },
  {
    name: 'full-replaces',
    clause: `${directives}, updateMode FULL`,
    expects: 'after a FULL, the catalog has the resources of that request and no others',
    async run(scene) {
      requireCallback(await scene.replaced());
      const ids = resourceIds(await regular(scene, 'chargers'));
      expectEqual(show(ids), show([scene.samples.id('r4')]), 'the list of resources');
    },
  },
];

export const masterChecks: readonly CatalogCheck[] = [
  {
    name: 'master-inherited',
    clause: `${directives}, extends`,
    expects: 'the attributes of the master resource in the resource that extends it',
    async run(scene) {
      requireCallback(await scene.extended());
      const resources = listAt(await regular(scene, 'extending'), 'resources');
      const faithful = resources.find((one) => at(one, 'id') === scene.samples.id('faithful'));
      const connector = at(faithful, 'resourceAttributes', 'attributes', 'connectorType');
      expectEqual(connector, 'CCS2', 'connectorType of the resource');
    },
  },
  {
    name: 'template-immutable',
    clause: `${directives}, template attributes are immutable`,
    expects: 'PARTIAL or REJECTED for a resource that changes a value of its master',
    async run(scene) {
      const result = resultOf(await scene.extended(), scene.samples.id('extending'));
      expectThat(
        ['PARTIAL', 'REJECTED'].includes(String(at(result, 'status'))),
        `the result is ${show(result)}`,
      );
    },
  },
  {
    name: 'master-known',
    clause: `${directives}, masterResourceId of a resource published before`,
    expects: 'a refusal (400, or REJECTED on on_publish) for a resource that extends nothing',
    async run(scene) {
      requireCallback(await scene.published());
      const { catalog, directive, charger, id } = scene.samples;
      const extending = { resourceId: id('orphan'), extends: { masterResourceId: id('absent') } };
      const asked = await scene.publish(
        [catalog('orphans', { resources: [charger('orphan')] })],
        [directive('orphans', { resourceDirectives: [extending] })],
      );
      if (asked.answer.status !== 200) return expectStatus(asked.answer, 400);
      const result = resultOf(asked, id('orphans'));
      expectThat(at(result, 'status') !== 'ACCEPTED', `the result is ${show(result)}`);
    },
  },
  {
    name: 'master-without-offers',
    clause: 'Catalog spec: What the service does, a MASTER contains no offers',
    expects: 'a refusal (400, or REJECTED on on_publish) for a MASTER catalog with offers',
    async run(scene) {
      requireCallback(await scene.mastered());
      const { catalog, directive, charger, id } = scene.samples;
      const offering = catalog('offering', {
        resources: [charger('offered')],
        offers: [{ id: id('master-offer') }],
      });
      const asked = await scene.publish([offering], [directive('offering', { catalogType: 'MASTER' })]);
      if (asked.answer.status !== 200) return expectStatus(asked.answer, 400);
      const result = resultOf(asked, id('offering'));
      expectThat(at(result, 'status') !== 'ACCEPTED', `the result is ${show(result)}`);
    },
  },
];

export const searchChecks: readonly CatalogCheck[] = [
  {
    name: 'search-envelope',
    clause: searching,
    expects: '200 with context.action catalog/on_search and the messageId of the request',
    async run({ search }) {
      const answer = await search({});
      expectStatus(answer, 200);
      expectEqual(at(answer.body, 'context', 'action'), 'catalog/on_search', 'context.action');
      expectEqual(at(answer.body, 'context', 'messageId'), answer.messageId, 'context.messageId');
    },
  },
  {
    name: 'search-defaults',
    clause: 'Catalog spec: Limits',
    expects: 'pagination with limit 20 and offset 0 where the request names none',
    async run({ search }) {
      const { body } = await search({});
      expectShape(Pagination, at(body, 'message', 'pagination') ?? null, 'message.pagination');
      expectEqual(at(body, 'message', 'pagination', 'limit'), 20, 'pagination.limit');
      expectEqual(at(body, 'message', 'pagination', 'offset'), 0, 'pagination.offset');
    },
  },
  {
    name: 'search-finds',
    clause: searching,
    expects: 'a REGULAR catalog, found by its type, network and schema type',
    async run(scene) {
      requireCallback(await scene.published());
      const filters = { type: 'REGULAR', networkIds: [scene.networkId], schemaTypes: [chargerContext] };
      const found = await scene.find('chargers', filters);
      expectThat(found !== undefined, `nothing of it is found with ${show(filters)}`);
    },
  },
  {
    name: 'search-assembled',
    clause: searching,
    expects: 'id, descriptor, provider and resources of each catalog',
    async run(scene) {
      requireCallback(await scene.published());
      const { body } = await scene.search({ filters: { type: 'REGULAR', networkIds: [scene.networkId] } });
      for (const catalog of listAt(body, 'message', 'catalogs'))
        for (const member of ['id', 'descriptor', 'provider'])
          expectThat(at(catalog, member) !== undefined, `${member} is missing in ${show(catalog)}`);
    },
  },
  {
    name: 'search-masters',
    clause: `${searching}, filters.type`,
    expects: 'MASTER catalogs, and no REGULAR ones, where the request names no type',
    async run(scene) {
      requireCallback(await scene.published());
      const networkIds = [scene.networkId];
      const found = await scene.find('plain', { networkIds });
      expectThat(found === undefined, `a REGULAR catalog is found: ${show(found)}`);
      const mastered = at(requireCallback(await scene.mastered()).body, 'message', 'results', 0, 'status');
      if (mastered !== 'ACCEPTED') throw new CheckSkipped('no MASTER catalog was taken');
      const master = await scene.find('master', { networkIds });
      expectThat(master !== undefined, 'the MASTER catalog is not found');
    },
  },
  {
    name: 'search-networks',
    clause: `${searching}, filters.networkIds`,
    expects: 'no catalog of another network',
    async run(scene) {
      requireCallback(await scene.published());
      const networkIds = [`${scene.samples.id('network')}.example/none`];
      const found = await scene.find('plain', { type: 'REGULAR', networkIds });
      expectThat(found === undefined, `it is found in ${networkIds}: ${show(found)}`);
    },
  },
  {
    name: 'search-limit-kept',
    clause: 'Catalog spec: Limits',
    expects: 'one catalog at most where limit is 1',
    async run(scene) {
      requireCallback(await scene.published());
      const { body } = await scene.search({ filters: { type: 'REGULAR' }, limit: 1 });
      const { length } = listAt(body, 'message', 'catalogs');
      expectThat(length <= 1, `there are ${length}`);
    },
  },
  refusal('search-limit-range', 'Catalog spec: Limits', 'limit is 101', 400, ({ search }) =>
    search({ limit: 101 }),
  ),
  refusal(
    'enum-invalid',
    'Catalog spec: Errors, SCH_INVALID_ENUM',
    'filters.type is OTHER',
    'SCH_INVALID_ENUM',
    ({ search }) => search({ filters: { type: 'OTHER' } }),
  ),
];

/** For checks that look at a catalog, and are no check of whether it is found. */
async function regular(scene: CatalogScene, name: string): Promise<Json> {
  const filters = { type: 'REGULAR', networkIds: [scene.networkId] };
  const found = await scene.find(name, filters);
  if (found === undefined) throw new CheckSkipped('a search does not find the catalog');
  return found;
}

function resourceIds(catalog: Json) {
  return listAt(catalog, 'resources').map((resource) => at(resource, 'id'));
}
