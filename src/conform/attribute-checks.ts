import type { Catalog, Offer, Resource } from '../protocol/catalog.ts';
import { requireCallback } from './callback.ts';
import type { CatalogScene } from './catalog-scene.ts';
import { clause } from './check.ts';
import { expectNotAccepted } from './publish-checks.ts';
import type { Samples } from './sample-catalogs.ts';

// Checks of the three kinds of domain attributes: each names its schema by @context and @type, and conforms to it (catalog spec: Resource, Offer).

const on = clause<CatalogScene>;

type Content = Pick<Catalog, 'resources' | 'offers'>;

type Kind = [of: string, part: string, carry: (samples: Samples, attributes: object) => Content];

const kinds: readonly Kind[] = [
  [
    'resource',
    'Resource',
    ({ plain, id }, resourceAttributes) => ({
      resources: [plain('sound'), { id: id('carrying'), resourceAttributes } as Resource],
    }),
  ],
  [
    'offer',
    'Offer',
    ({ plain, id }, offerAttributes) => ({
      resources: [plain('sound')],
      offers: [{ id: id('carrying'), offerAttributes } as Offer],
    }),
  ],
  [
    'consideration',
    'Offer, considerations',
    ({ plain, id }, considerationAttributes) => ({
      resources: [plain('sound')],
      offers: [{ id: id('carrying'), considerations: [{ id: 'price', considerationAttributes }] } as Offer],
    }),
  ],
];

const refused = 'a refusal (400, or REJECTED or PARTIAL on on_publish) for';

export const attributeChecks = kinds.flatMap(([of, part, carry]) => {
  const [member, prefix] = [`${of}Attributes`, of === 'resource' ? '' : `${of}-`];
  return [
    ...on(`Catalog spec: ${part}, ${member} must conform to the schema named by their @context`, {
      [`${prefix}attributes-checked: ${refused} ${member} of an EV charger of the type TOASTER`]: async (
        scene,
      ) => {
        const toaster = scene.samples.charger('carrying', { type: 'TOASTER' }).resourceAttributes ?? {};
        await expectRefused(scene, `toaster-${of}`, carry(scene.samples, toaster));
      },
    }),
    ...on(`Catalog spec: ${part}, ${member} MUST carry @context and @type`, {
      [`${prefix}attributes-typed: ${refused} ${member} without @context or @type`]: async (scene) => {
        const sound = scene.samples.charger('carrying').resourceAttributes;
        for (const missing of ['context', 'type'] as const) {
          const { [`@${missing}` as const]: _, ...rest } = sound ?? { '@context': '', '@type': '' };
          await expectRefused(scene, `no-${missing}-${of}`, carry(scene.samples, rest));
        }
      },
    }),
  ];
});

async function expectRefused(scene: CatalogScene, name: string, content: Content): Promise<void> {
  const { publish, published, samples } = scene;
  requireCallback(await published());
  const asked = await publish([samples.catalog(name, content)], [samples.directive(name)]);
  expectNotAccepted(asked, samples.id(name));
}
