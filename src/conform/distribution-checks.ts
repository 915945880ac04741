import type { Json } from '../protocol/json.ts';
import { requireCallback } from './callback.ts';
import type { CatalogScene } from './catalog-scene.ts';
import { CheckSkipped, clause } from './check.ts';
import { expectCatalogs, expectEqual, expectPagination, expectStatus, expectThat } from './expect.ts';
import { expectNotAccepted } from './publish-checks.ts';
import { refusal } from './request-checks.ts';
import { chargerContext } from './sample-catalogs.ts';
import { at, idsIn, listAt, show } from './values.ts';

const on = clause<CatalogScene>;

const directives = 'Catalog spec: publishDirectives';
const searching = 'Catalog spec: POST /catalog/search';

export const updateChecks = [
  ...on(`${directives}, updateMode MERGE`, {
    'merge-retains: resources that a MERGE does not name are retained': async (scene) => {
      requireCallback(await scene.merged());
      const ids = idsIn(await resourcesOf(scene, 'chargers'));
      expectThat(ids.includes(scene.samples.id('r1')), `after the MERGE there are ${show(ids)}`);
    },
    'merge-upserts: resources of a MERGE are added, or replace those with the same id': async (scene) => {
      requireCallback(await scene.merged());
      const { id } = scene.samples;
      const resources = await resourcesOf(scene, 'chargers');
      const find = (name: string) => resources.find((one) => at(one, 'id') === id(name));
      const nameOf = (name: string) => at(find(name), 'descriptor', 'name');
      expectEqual(nameOf('r2'), 'changed', 'the name of the resource that was changed');
      expectThat(nameOf('r3') !== undefined, 'the resource that was added is not there');
    },
  }),
  ...on(`${directives}, updateMode, default MERGE`, {
    'merge-default: resources that an update without updateMode does not name are retained': async (
      scene,
    ) => {
      requireCallback(await scene.updated());
      const ids = idsIn(await resourcesOf(scene, 'chargers'));
      const names = ['r1', 'r2', 'r3', 'r5'].filter((name) => !ids.includes(scene.samples.id(name)));
      expectThat(names.length === 0, `${names.join(', ')} are missing: there are ${show(ids)}`);
    },
  }),
  ...on(`${directives}, updateMode FULL`, {
    'full-replaces: after a FULL, the catalog has the resources of that request and no others': async (
      scene,
    ) => {
      requireCallback(await scene.replaced());
      const ids = idsIn(await resourcesOf(scene, 'chargers'));
      expectEqual(show(ids), show([scene.samples.id('r4')]), 'the list of resources');
    },
  }),
];

export const masterChecks = [
  ...on(`${directives}, extends`, {
    'master-inherited: the attributes of the master resource in the resource that extends it': async (
      scene,
    ) => {
      requireCallback(await scene.extended());
      const resources = await resourcesOf(scene, 'extending');
      const faithful = resources.find((one) => at(one, 'id') === scene.samples.id('faithful'));
      const connector = at(faithful, 'resourceAttributes', 'attributes', 'connectorType');
      expectEqual(connector, 'CCS2', 'connectorType of the resource');
    },
  }),
  ...on(`${directives}, template attributes are immutable`, {
    'template-immutable: PARTIAL or REJECTED for a resource that changes a value of its master': async ({
      extended,
      samples,
    }) => expectNotAccepted(await extended(), samples.id('extending')),
  }),
  ...on(`${directives}, masterResourceId of a resource published before`, {
    'master-known: a refusal (400, or REJECTED on on_publish) for a resource that extends nothing': async (
      scene,
    ) => {
      requireCallback(await scene.published());
      const { catalog, directive, charger, id } = scene.samples;
      const extending = { resourceId: id('orphan'), extends: { masterResourceId: id('absent') } };
      const asked = await scene.publish(
        [catalog('orphans', { resources: [charger('orphan')] })],
        [directive('orphans', { resourceDirectives: [extending] })],
      );
      expectNotAccepted(asked, id('orphans'));
    },
  }),
  ...on('Catalog spec: What the service does, a MASTER contains no offers', {
    'master-without-offers: a refusal (400, or REJECTED on on_publish) for a MASTER catalog with offers':
      async (scene) => {
        requireCallback(await scene.mastered());
        const { catalog, directive, charger, id } = scene.samples;
        const content = { resources: [charger('offered')], offers: [{ id: id('master-offer') }] };
        const asked = await scene.publish(
          [catalog('offering', content)],
          [directive('offering', { catalogType: 'MASTER' })],
        );
        expectNotAccepted(asked, id('offering'));
      },
  }),
];

export const searchChecks = [
  ...on(searching, {
    'search-envelope: 200 with context.action catalog/on_search and the messageId of the request': async ({
      search,
    }) => {
      const answer = await search({});
      expectStatus(answer, 200);
      expectEqual(at(answer.body, 'context', 'action'), 'catalog/on_search', 'context.action');
      expectEqual(at(answer.body, 'context', 'messageId'), answer.messageId, 'context.messageId');
    },
  }),
  ...on('Catalog spec: Limits', {
    'search-defaults: pagination with limit 20 and offset 0 where the request names none': async (scene) => {
      expectPagination(at((await scene.search({})).body, 'message'), { limit: 20, offset: 0 });
    },
  }),
  ...on(searching, {
    'search-finds: a REGULAR catalog, found by its type, network and schema type': async (scene) => {
      requireCallback(await scene.published());
      const filters = { type: 'REGULAR', networkIds: [scene.networkId], schemaTypes: [chargerContext] };
      const found = await scene.find('chargers', filters);
      expectThat(found !== undefined, `nothing of it is found with ${show(filters)}`);
    },
    'search-assembled: id, descriptor, provider and resources of each catalog': async (scene) => {
      requireCallback(await scene.published());
      const { body } = await scene.search({ filters: { type: 'REGULAR', networkIds: [scene.networkId] } });
      expectCatalogs(listAt(body, 'message', 'catalogs'));
    },
  }),
  ...on(`${searching}, filters.type`, {
    'search-masters: MASTER catalogs, and no REGULAR ones, where the request names no type': async (
      scene,
    ) => {
      requireCallback(await scene.published());
      const networkIds = [scene.networkId];
      const found = await scene.find('plain', { networkIds });
      expectThat(found === undefined, `a REGULAR catalog is found: ${show(found)}`);
      const mastered = at(requireCallback(await scene.mastered()).body, 'message', 'results', 0, 'status');
      if (mastered !== 'ACCEPTED') throw new CheckSkipped('no MASTER catalog was accepted');
      const master = await scene.find('master', { networkIds });
      expectThat(master !== undefined, 'the MASTER catalog is not found');
    },
  }),
  ...on(`${searching}, filters.networkIds`, {
    'search-networks: no catalog of another network': async (scene) => {
      requireCallback(await scene.published());
      const networkIds = [`${scene.samples.id('network')}.example/none`];
      const found = await scene.find('plain', { type: 'REGULAR', networkIds });
      expectThat(found === undefined, `it is found in ${networkIds}: ${show(found)}`);
    },
  }),
  ...on('Catalog spec: Limits', {
    'search-limit-kept: one catalog at most where limit is 1': async (scene) => {
      requireCallback(await scene.published());
      const { body } = await scene.search({ filters: { type: 'REGULAR' }, limit: 1 });
      const { length } = listAt(body, 'message', 'catalogs');
      expectThat(length <= 1, `there are ${length}`);
    },
    ...refusal('search-limit-range: limit is 101', 400, ({ search }) => search({ limit: 101 })),
  }),
  ...on(
    'Catalog spec: Errors, SCH_INVALID_ENUM',
    refusal('enum-invalid: filters.type is OTHER', 'SCH_INVALID_ENUM', ({ search }) =>
      search({ filters: { type: 'OTHER' } }),
    ),
  ),
];

/** For checks that need a catalog but do not test whether it is found. */
async function resourcesOf(scene: CatalogScene, name: string): Promise<Json[]> {
  const found = await scene.find(name, { type: 'REGULAR', networkIds: [scene.networkId] });
  if (found === undefined) throw new CheckSkipped('a search does not find the catalog');
  return listAt(found, 'resources');
}
