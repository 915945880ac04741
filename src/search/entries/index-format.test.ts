import { describe, expect, it } from 'vitest';
import { sha256Digest } from '../../protocol/digest.ts';
import { entriesOfDocument } from './document-entries.ts';
import { indexFormats } from './index-format.ts';

// The format of a generation derives the entries to remove again (write/index-changes.ts). So code that makes other entries needs a new version.
// Under the old version, it would leave entries behind in every existing index.

const documents = [
  [
    'resource',
    {
      id: 'r',
      descriptor: { name: 'Charger 60kW', shortDesc: "Crème brûlée at e-bike's, 駅前 充電" },
      resourceAttributes: {
        '@type': 'EnergyResourceEVCharger',
        attributes: {
          ...{ price: 12.5, tags: ['fast', 7, null, true], nested: [{ a: [1, { b: 'x' }] }], open: false },
          at: { type: 'Point', coordinates: [77.59, 12.97] },
          long: 'a'.repeat(1_001),
        },
      },
    },
  ],
  ['offer', { id: 'o', resourceIds: ['r'], descriptor: { name: 'Night tariff' } }],
  ['offer', { id: 'standing', descriptor: { name: 'Day tariff' } }],
  [
    'catalog',
    {
      id: 'c',
      descriptor: { name: 'Chargers of the city' },
      provider: {
        id: 'p',
        descriptor: { name: 'Volt' },
        availableAt: [
          {
            geo: {
              type: 'LineString',
              coordinates: [
                [0, 0],
                [1, 1],
              ],
            },
          },
        ],
      },
    },
  ],
] as const;

describe('a format of the index', () => {
  it.each(indexFormats)('of version $version makes the same entries for ever', (format) => {
    const made = documents.map(([kind, document]) => {
      const entries = entriesOfDocument(format, kind, document);
      const { facts, numbers, objects, words, geometries, isCertain } = entries;
      const values = Array.from(numbers, ([path, each]) => [path, ...each]);
      const typing = Array.from(words.keys(), (word) => format.typing.index(word));
      const boxes = geometries.map(({ geometry }) => format.geometries.boxOf(geometry));
      return [[...facts], values, [...objects], [...words], typing, geometries, boxes, isCertain];
    });
    expect(sha256Digest(Buffer.from(JSON.stringify(made)))).toBe(digests[format.version]);
  });
});

const digests: Record<number, string> = {
  1: 'sha256:8354085b68c425c53a049b6cd70a72f5d896e4178f3ffa02aea10a2da954142f',
};
