import type { Catalog, Offer, Resource } from '../../../src/protocol/catalog.ts';

// Small catalogs to publish. Chargers are typed, so that their attributes are validated.

export const chargerContext = 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld';

export function charger(id: string, attributes: Record<string, unknown> = {}, type = 'EV_CHARGER'): Resource {
  return {
    id,
    descriptor: { name: `Charger ${id}` },
    resourceAttributes: {
      '@context': chargerContext,
      '@type': 'EnergyResourceEVCharger',
      id,
      type,
      attributes: { ratedPower: { value: 22, unit: 'kW' }, connectorType: 'Type2', ...attributes },
    },
  };
}

export function plain(id: string, name = `Resource ${id}`): Resource {
  return { id, descriptor: { name } };
}

export function offer(id: string, more: Partial<Offer> = {}): Offer {
  return { id, descriptor: { name: `Offer ${id}` }, ...more };
}

export function catalog(id: string, content: Partial<Catalog> = {}): Catalog {
  return {
    id,
    descriptor: { name: `Catalog ${id}` },
    provider: { id: `${id}-provider`, descriptor: { name: `Provider of ${id}` } },
    ...(content.resources || content.offers ? {} : { resources: [plain(`${id}-1`)] }),
    ...content,
  };
}
