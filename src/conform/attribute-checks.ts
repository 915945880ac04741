import type { Attributes, Catalog } from '../protocol/catalog.ts';
import { requireCallback } from './callback.ts';
import type { CatalogScene } from './catalog-scene.ts';
import { clause } from './check.ts';
import { expectNotAccepted } from './publish-checks.ts';

// Checks of the three kinds of domain attributes: each names its schema by @context and @type, and conforms to it (catalog spec: Resource, Offer).

const on = clause<CatalogScene>;

type Content = Pick<Catalog, 'resources' | 'offers'>;

type Carry = (id: string, attributes: Attributes) => Content;
type Kind = [of: string, part: string, carry: Carry];

const kinds: readonly Kind[] = [
  ['resource', 'Resource', (id, resourceAttributes) => ({ resources: [{ id, resourceAttributes }] })],
  ['offer', 'Offer', (id, offerAttributes) => ({ offers: [{ id, offerAttributes }] })],
  [
    'consideration',
    'Offer, considerations',
    (id, considerationAttributes) => ({
      offers: [{ id, considerations: [{ id: 'price', considerationAttributes }] }],
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
        await expectRefused(scene, `toaster-${of}`, carry, toaster);
      },
    }),
    ...on(`Catalog spec: ${part}, ${member} MUST carry @context and @type`, {
      [`${prefix}attributes-typed: ${refused} ${member} without @context or @type`]: async (scene) => {
        const sound = scene.samples.charger('carrying').resourceAttributes;
        for (const missing of ['context', 'type'] as const) {
          const { [`@${missing}` as const]: _, ...rest } = sound ?? { '@context': '', '@type': '' };
          await expectRefused(scene, `no-${missing}-${of}`, carry, rest);
        }
      },
    }),
  ];
});

async function expectRefused(scene: CatalogScene, name: string, carry: Carry, attributes: object) {
  const { publish, published, samples } = scene;
  requireCallback(await published());
  // Attributes without @context or @type have the wrong type on purpose.
  const { resources = [], offers } = carry(samples.id('carrying'), attributes as Attributes);
  const content = { resources: [samples.plain('sound'), ...resources], offers };
  const asked = await publish([samples.catalog(name, content)], [samples.directive(name)]);
  expectNotAccepted(asked, samples.id(name));
}
