import type { Catalog, Offer, Resource } from '../protocol/catalog.ts';
import { requireCallback } from './callback.ts';
import type { CatalogScene } from './catalog-scene.ts';
import type { Check } from './check.ts';
import { at, expectRefusal, expectThat, show } from './expect.ts';
import { resultOf } from './publish-checks.ts';
import type { Samples } from './sample-catalogs.ts';

// The three kinds of domain attributes: each names its schema by @context and @type, and conforms to it (catalog spec: Resource, Offer).

type CatalogCheck = Check<CatalogScene>;

type Content = Pick<Catalog, 'resources' | 'offers'>;

interface AttributeKind {
  of: 'resource' | 'offer' | 'consideration';
  /** Begins the names of its checks. */
  prefix: string;
  clause: string;
  member: string;
  /** What a catalog has that carries such attributes, among things that are sound. */
  carry(samples: Samples, attributes: object): Content;
}

const kinds: readonly AttributeKind[] = [
  {
    of: 'resource',
    prefix: '',
    clause: 'Catalog spec: Resource',
    member: 'resourceAttributes',
    carry: ({ plain, id }, resourceAttributes) => ({
      resources: [plain('sound'), { id: id('carrying'), resourceAttributes } as Resource],
    }),
  },
  {
    of: 'offer',
    prefix: 'offer-',
    clause: 'Catalog spec: Offer',
    member: 'offerAttributes',
    carry: ({ plain, id }, offerAttributes) => ({
      resources: [plain('sound')],
      offers: [{ id: id('carrying'), offerAttributes } as Offer],
    }),
  },
  {
    of: 'consideration',
    prefix: 'consideration-',
    clause: 'Catalog spec: Offer, considerations',
    member: 'considerationAttributes',
    carry: ({ plain, id }, considerationAttributes) => ({
      resources: [plain('sound')],
      offers: [{ id: id('carrying'), considerations: [{ id: 'price', considerationAttributes }] } as Offer],
    }),
  },
];

export const attributeChecks: readonly CatalogCheck[] = kinds.flatMap((kind) => [
  checkedAgainstSchema(kind),
  namesSchema(kind),
]);

function checkedAgainstSchema({ of, prefix, clause, member, carry }: AttributeKind): CatalogCheck {
  return {
    name: `${prefix}attributes-checked`,
    clause: `${clause}, ${member} must conform to the schema named by their @context`,
    expects: `a refusal (400, or REJECTED or PARTIAL on on_publish) for ${member} of an EV charger of the type TOASTER`,
    async run(scene) {
      const toaster = scene.samples.charger('carrying', { type: 'TOASTER' }).resourceAttributes ?? {};
      await expectRefused(scene, `toaster-${of}`, carry(scene.samples, toaster));
    },
  };
}

function namesSchema({ of, prefix, clause, member, carry }: AttributeKind): CatalogCheck {
  return {
    name: `${prefix}attributes-typed`,
    clause: `${clause}, ${member} MUST carry @context and @type`,
    expects: `a refusal (400, or REJECTED or PARTIAL on on_publish) for ${member} without @context or @type`,
    async run(scene) {
      const sound = scene.samples.charger('carrying').resourceAttributes;
      for (const missing of ['context', 'type'] as const) {
        const { [`@${missing}` as const]: _, ...rest } = sound ?? { '@context': '', '@type': '' };
        await expectRefused(scene, `no-${missing}-${of}`, carry(scene.samples, rest));
      }
    },
  };
}

async function expectRefused(scene: CatalogScene, name: string, content: Content): Promise<void> {
  const { publish, published, samples } = scene;
  requireCallback(await published());
  const asked = await publish([samples.catalog(name, content)], [samples.directive(name)]);
  if (asked.answer.status !== 200) return expectRefusal(asked.answer, 400);
  const result = resultOf(asked, samples.id(name));
  expectThat(['PARTIAL', 'REJECTED'].includes(String(at(result, 'status'))), `the result is ${show(result)}`);
}
