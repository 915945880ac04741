import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { publishCatalogs } from '../../src/publisher/publish.ts';
import { makeTree, readTree } from '../support/hosted/published-tree.ts';

const size = 50_000;

describe(`a catalog of ${size} resources`, () => {
  it('is published as a change file with the one resource that changed', async () => {
    const tree = await makeTree();
    try {
      expect(await publishCatalogs(tree, { message: { catalogs: [chargers()] } })).toMatchObject({
        results: [{ status: 'ACCEPTED', version: 1 }],
      });
      const changed = chargers();
      changed.resources[31_415] = charger(31_415, 'Moved to the other side of the road');
      expect(await publishCatalogs(tree, { message: { catalogs: [changed] } })).toMatchObject({
        results: [{ status: 'ACCEPTED', version: 2 }],
      });
      const catalog = (await readTree(tree)).get('chargers');
      const { url = '', size: bytes } = catalog?.entry.changes[0] ?? {};
      const file = JSON.parse(await readFile(join(tree.root, url.slice(tree.baseUrl.length)), 'utf8'));
      expect(file.resources).toEqual({ upserts: [changed.resources[31_415]], removals: [] });
      expect(file.offers).toEqual({ upserts: [], removals: [] });
      expect(bytes).toBeLessThan(2000);
      expect(catalog?.held?.content.resources.size).toBe(size);
    } finally {
      await tree.remove();
    }
  });
});

function chargers() {
  return {
    id: 'chargers',
    descriptor: { name: 'Chargers' },
    provider: { id: 'operator', descriptor: { name: 'An operator' } },
    resources: Array.from({ length: size }, (_, index) => charger(index, `Bay ${index % 37}`)),
  };
}

function charger(index: number, name: string) {
  return {
    id: `charger-${index}`,
    descriptor: { name },
    resourceAttributes: {
      '@context': 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld',
      '@type': 'EnergyResourceEVCharger',
      id: `charger-${index}`,
      type: 'EV_CHARGER',
      attributes: { connectorType: 'CCS2', ratedPower: { value: 22 + (index % 300), unit: 'kW' } },
    },
  };
}
