import { actions } from '../protocol/actions.ts';
import type { Json } from '../protocol/json.ts';
import type { RegistryClient } from '../registry/client.ts';
import { type Asked, type Asking, ask, requireCallback } from './callback.ts';
import { CheckSkipped, memoize } from './check.ts';
import { at, describe, expectThat, listAt } from './expect.ts';
import type { RequestScene } from './request-checks.ts';
import { createSamples, type Samples } from './sample-catalogs.ts';

// One run against a discovery service. It asks for what is there, takes one resource of the answer, and asks for that in every way that the specification has.
// What the service finds by crawling is the matter of crawl-scene.ts.

interface DiscoverySceneOptions extends Asking {
  registry: RegistryClient;
  registryName: string;
  networkId: string;
  run: string;
  /** Words that find something; every resource is asked for without them. */
  text?: string;
}

export interface DiscoveryScene extends RequestScene, DiscoverySceneOptions {
  samples: Samples;
  /** An intent that should find something. */
  found: () => Promise<Asked>;
  /** The resource that the other questions are about. */
  target: () => Promise<Target>;
  /** What an intent finds; nothing where the service says so, or sends no answer. */
  discover(intent: object): Promise<Json[]>;
  finds(resourceId: string): Promise<boolean>;
}

export interface Target {
  id: string;
  /** The name by which a text search should find it. */
  name?: string;
  /** [longitude, latitude] of its provider, where that has a place. */
  place?: [number, number];
  /** A filter that selects it, and no other. */
  filters: { type: 'jsonpath'; expression: string };
}

export const everything = { type: 'jsonpath', expression: '$.catalogs[*].resources[*]' };

export function createDiscoveryScene(options: DiscoverySceneOptions): DiscoveryScene {
  const { run, text, networkId } = options;
  const samples = createSamples(run, networkId);
  const intent = text === undefined ? { filters: everything } : { textSearch: text };
  const nothing = { filters: { type: 'jsonpath', expression: selecting(samples.id('nothing')) } };
  const scene: DiscoveryScene = {
    ...options,
    samples,
    probe: { action: actions.discover, message: { intent: nothing } },
    endpoints: [
      { action: actions.discover, sending: { message: { intent: {} } } },
      { action: actions.push, sending: { message: { catalogs: [] } } },
      { action: actions.onPull, sending: { message: {} } },
    ],
    found: memoize(() => ask(options, actions.discover, { message: { intent } })),
    target: memoize(async () => {
      const targets = listAt(requireCallback(await scene.found()).body, 'message', 'catalogs').flatMap(
        targetsIn,
      );
      const [target] = targets.sort((one, other) => worth(other) - worth(one));
      if (!target)
        throw new CheckSkipped('on_discover has no resource that the other questions could be about');
      return target;
    }),
    async discover(wanted) {
      const asked = await ask(options, actions.discover, { message: { intent: wanted } });
      expectThat(asked.answer.status < 300, describe(asked.answer));
      return listAt(asked.callback?.body, 'message', 'catalogs');
    },
    async finds(resourceId) {
      const filters = { type: 'jsonpath', expression: selecting(resourceId) };
      return resourceIdsIn(await scene.discover({ filters })).includes(resourceId);
    },
  };
  return scene;
}

function targetsIn(catalog: Json): Target[] {
  const places = listAt(catalog, 'provider', 'availableAt').map((one) => at(one, 'geo'));
  const point = places.find((geo) => at(geo, 'type') === 'Point');
  const [longitude, latitude] = listAt(point, 'coordinates');
  const place =
    typeof longitude === 'number' && typeof latitude === 'number'
      ? { place: [longitude, latitude] as [number, number] }
      : {};
  return listAt(catalog, 'resources').flatMap((resource) => {
    const [id, name] = [at(resource, 'id'), at(resource, 'descriptor', 'name')];
    if (typeof id !== 'string' || /['\\]/.test(id)) return [];
    const filters = { type: 'jsonpath' as const, expression: selecting(id) };
    return [{ id, filters, ...place, ...(typeof name === 'string' && name !== '' && { name }) }];
  });
}

/** The more can be asked about it, the better. */
function worth({ name, place }: Target): number {
  return Number(name !== undefined) + Number(place !== undefined);
}

function selecting(resourceId: string): string {
  return `$.catalogs[*].resources[?@.id == '${resourceId}']`;
}

export function resourceIdsIn(catalogs: readonly Json[]): unknown[] {
  return catalogs.flatMap((catalog) => listAt(catalog, 'resources').map((resource) => at(resource, 'id')));
}
