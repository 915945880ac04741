import { describe, expect, it } from 'vitest';
import { sha256Digest } from '../../protocol/digest.ts';
import { entriesOfDocument } from '../write/document-entries.ts';
import { indexFormats } from './index-format.ts';

// What leaves the index is made anew by the format of its catalog (write/stored-entries.ts). So code that makes other entries needs a version of its own: under an old one it would leave
// entries behind in every index there is.

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
      const { facts, numbers, objects, words, geometries, isStanding } = entries;
      const values = Array.from(numbers, ([path, each]) => [path, ...each]);
      const typing = Array.from(words.keys(), (word) => format.typing.index(word));
      const boxes = geometries.map(({ geometry }) => format.geometries.boxOf(geometry));
      return [[...facts], values, [...objects], [...words], typing, geometries, boxes, isStanding];
    });
    expect(sha256Digest(Buffer.from(JSON.stringify(made)))).toBe(digests[format.version]);
  });
});

const [withoutStanding, withStanding] = [
  'sha256:b478abd1b2487fdcceae8c9ca97310cc7f7bac0b823edc95743cd081fb0ca693',
  'sha256:158a04338cee05e0b13d832460b623ac1d942409de2775c5d6350e569d0a7521',
];
const digests = [withoutStanding, withoutStanding, withStanding, withStanding, withStanding];
