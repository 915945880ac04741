import type { Catalog, Resource } from '../protocol/catalog.ts';
import type { PublishDirective } from '../protocol/publish-messages.ts';

export const chargerContext = 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld';

export type Samples = ReturnType<typeof createSamples>;

export function createSamples(run: string, networkId: string) {
  const id = (name: string) => `conform-${run}-${name}`;
  const descriptor = (name: string) => ({
    name: `Conformance check: ${name}`,
    shortDesc: 'Published by a conformance check, and not for sale.',
  });
  return {
    id,
    catalog: (
      name: string,
      content: Pick<Catalog, 'resources' | 'offers'> & { isActive?: boolean },
    ): Catalog => ({
      id: id(name),
      descriptor: descriptor(name),
      provider: {
        id: id('provider'),
        descriptor: descriptor('provider'),
        availableAt: [{ geo: { type: 'Point', coordinates: [0, 0] } }],
      },
      ...content,
    }),
    directive: (name: string, more: Partial<PublishDirective> = {}): PublishDirective => ({
      ...{ catalogId: id(name), catalogType: 'REGULAR', visibleTo: [networkId] },
      ...more,
    }),
    /** A resource that conforms to the schema of EV chargers (self-hosted spec: EV charger resource type). */
    charger: (name: string, attributes: object = {}): Resource => ({
      id: id(name),
      descriptor: descriptor(name),
      resourceAttributes: {
        ...{ '@context': chargerContext, '@type': 'EnergyResourceEVCharger' },
        ...{ id: id(name), type: 'EV_CHARGER', ...attributes },
      },
    }),
    plain: (name: string): Resource => ({ id: id(name), descriptor: descriptor(name) }),
  };
}
