import type { DiscoverMessage } from '../protocol/discover-messages.ts';
import { placeOf } from './places.ts';

/** The searches of the demo's consumer, in turns. The first finds nothing, so that the list of empty searches soon has an entry. */
export const questions: readonly DiscoverMessage[] = [
  { intent: { textSearch: 'hydrogen pump' } },
  { intent: { textSearch: 'fast charger', spatial: [near('MGR', 4_000)] } },
  { intent: { textSearch: 'filter coffee' } },
  {
    intent: {
      filters: {
        type: 'jsonpath',
        expression: "$.catalogs[*].resources[?@.resourceAttributes.attributes.connectorType == 'CCS2']",
      },
      spatial: [near('KOR', 6_000)],
    },
  },
  { intent: { textSearch: 'ರಾಗಿ' } },
  { intent: { textSearch: 'mysore pak', spatial: [near('BAS', 3_000)] } },
];

function near(code: string, distanceMeters: number) {
  const { latitude, longitude } = placeOf(code);
  return {
    op: 'S_DWITHIN' as const,
    targets: [
      '$.catalogs[*].provider.availableAt[*].geo',
      '$.catalogs[*].resources[*].resourceAttributes.attributes.location.geo',
    ],
    geometry: { type: 'Point' as const, coordinates: [longitude, latitude] },
    distanceMeters,
  };
}
