import { actions } from '../protocol/actions.ts';
import type { Json } from '../protocol/json.ts';
import { ask, requireCallback } from './callback.ts';
import type { CatalogSceneOptions } from './catalog-scene.ts';
import { CheckSkipped, memoize } from './check.ts';
import { expectThat } from './expect.ts';
import { createSamples } from './sample-catalogs.ts';
import { at, describe, idsIn, listAt } from './values.ts';

// One run against a discovery service: it requests everything, picks one resource of the answer, and searches it in every way of the specification.

interface DiscoverySceneOptions extends Omit<CatalogSceneOptions, 'bodyLimit' | 'download'> {
  /** Words that have hits; without them, all resources are requested. */
  text?: string;
}

export type DiscoveryScene = ReturnType<typeof createDiscoveryScene>;

export interface Target {
  id: string;
  name?: string;
  /** [longitude, latitude] of its provider, if known. */
  place?: [number, number];
  filters: { type: 'jsonpath'; expression: string };
}

const everything = { type: 'jsonpath', expression: '$.catalogs[*].resources[*]' };

export function createDiscoveryScene(options: DiscoverySceneOptions) {
  const { run, text, networkId } = options;
  const samples = createSamples(run, networkId);
  const intent = text === undefined ? { filters: everything } : { textSearch: text };
  const nothing = { filters: selecting(samples.id('nothing')) };
  const found = memoize(() => ask(options, actions.discover, { message: { intent } }));

  /** Ids of the resources that an intent finds; none if the service reports none, or does not answer. */
  async function discover(wanted: object): Promise<unknown[]> {
    const asked = await ask(options, actions.discover, { message: { intent: wanted } });
    expectThat(asked.answer.status < 300, describe(asked.answer));
    const catalogs = listAt(asked.callback?.body, 'message', 'catalogs');
    return catalogs.flatMap((catalog) => idsIn(listAt(catalog, 'resources')));
  }

  return {
    ...{ ...options, samples, found, discover },
    probe: { action: actions.discover, message: { intent: nothing } },
    endpoints: [
      { action: actions.discover, sending: { message: { intent: {} } } },
      { action: actions.push, sending: { message: { catalogs: [] } } },
      { action: actions.onPull, sending: { message: {} } },
    ],
    target: memoize(async () => {
      const catalogs = listAt(requireCallback(await found()).body, 'message', 'catalogs');
      const [target] = catalogs.flatMap(targetsIn).sort((one, other) => worth(other) - worth(one));
      if (target) return target;
      throw new CheckSkipped('on_discover has no resource that the other questions could be about');
    }),
    finds: async (resourceId: string) =>
      (await discover({ filters: selecting(resourceId) })).includes(resourceId),
  };
}

function targetsIn(catalog: Json): Target[] {
  const places = listAt(catalog, 'provider', 'availableAt').map((one) => at(one, 'geo'));
  const point = places.find((geo) => at(geo, 'type') === 'Point');
  const [longitude, latitude] = listAt(point, 'coordinates');
  const hasPlace = typeof longitude === 'number' && typeof latitude === 'number';
  return listAt(catalog, 'resources').flatMap((resource) => {
    const [id, name] = [at(resource, 'id'), at(resource, 'descriptor', 'name')];
    if (typeof id !== 'string' || /['\\]/.test(id)) return [];
    const target: Target = { id, filters: selecting(id) };
    if (hasPlace) target.place = [longitude, latitude];
    if (typeof name === 'string' && name !== '') target.name = name;
    return [target];
  });
}

/** The more members it has, the more searches are possible. */
function worth({ name, place }: Target): number {
  return Number(name !== undefined) + Number(place !== undefined);
}

function selecting(resourceId: string): Target['filters'] {
  return { type: 'jsonpath', expression: `$.catalogs[*].resources[?@.id == '${resourceId}']` };
}
