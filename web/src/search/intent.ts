import type { FindAnswer } from '../../../src/console/answers/find.ts';
import type { Area } from '../map/area.ts';
import { type Condition, type FindQuery, isEmpty } from './query.ts';

export type DiscoverMessage = FindAnswer['request']['message'];
export type SpatialEntry = NonNullable<DiscoverMessage['intent']['spatial']>[number];

export interface FindBody {
  networkId?: string;
  message: DiscoverMessage;
}

/** Paths of locations: the provider's, or the resource's. `signpost discover` searches the same ones. */
export const usualTargets = [
  '$.catalogs[*].provider.availableAt[*].geo',
  '$.catalogs[*].resources[*].resourceAttributes.attributes.location.geo',
];
export const pageSize = 300;

export function buildRequest(query: FindQuery): FindBody {
  const { text, network, area, offset } = query;
  const expression = isEmpty(query) ? '$.catalogs[*].resources[*]' : buildExpression(query);
  return {
    ...(network !== '' && { networkId: network }),
    message: {
      intent: {
        ...(text.trim() !== '' && { textSearch: text.trim() }),
        ...(expression !== undefined && { filters: { type: 'jsonpath', expression } }),
        ...(area && { spatial: [toSpatial(area)] }),
      },
      limit: pageSize,
      ...(offset > 0 && { offset }),
    },
  };
}

/** Converts an intent to the form. Undefined if the form has no field for a part of the intent. */
export function readIntent(intent: DiscoverMessage['intent']): FindQuery | undefined {
  const { textSearch = '', filters, spatial = [], ...others } = intent;
  const [area] = spatial.map(toArea);
  if (Object.keys(others).length > 0 || spatial.length > 1 || (spatial.length === 1 && !area))
    return undefined;
  const expression = filters?.expression ?? '';
  return { text: textSearch, network: '', type: '', conditions: [], expression, area, offset: 0 };
}

function toArea({ op, targets, geometry, distanceMeters }: SpatialEntry): Area | undefined {
  if ([targets].flat().sort().join() !== [...usualTargets].sort().join()) return undefined;
  if (op === 'S_DWITHIN' && geometry.type === 'Point' && distanceMeters !== undefined) {
    const [longitude = 0, latitude = 0] = geometry.coordinates;
    return { kind: 'circle', latitude, longitude, meters: distanceMeters };
  }
  if (op !== 'S_INTERSECTS' || geometry.type !== 'Polygon') return undefined;
  const [ring = [], ...holes] = geometry.coordinates;
  if (holes.length > 0) return undefined;
  return {
    kind: 'polygon',
    corners: ring.slice(0, -1).map(([longitude = 0, latitude = 0]) => [latitude, longitude]),
  };
}

function toSpatial(area: Area): SpatialEntry {
  if (area.kind === 'circle') {
    const geometry = { type: 'Point' as const, coordinates: [area.longitude, area.latitude] };
    return { op: 'S_DWITHIN', targets: usualTargets, geometry, distanceMeters: area.meters };
  }
  const ring = area.corners.map(([latitude, longitude]) => [longitude, latitude]);
  const geometry = { type: 'Polygon' as const, coordinates: [[...ring, ...ring.slice(0, 1)]] };
  return { op: 'S_INTERSECTS', targets: usualTargets, geometry };
}

/** Offer conditions select the resources of offers. With resource conditions, they select only the catalog (no joins); `hasOffer` does the rest. */
export function buildExpression({ type, conditions, expression }: FindQuery): string | undefined {
  const written = expression.trim();
  if (written.startsWith('$')) return written;
  const ofResource = [
    ...spellType(type),
    ...conditions.filter(({ on }) => on === 'resource').map(spell),
    ...(written === '' ? [] : [`(${written})`]),
  ];
  const ofOffer = conditions.filter(({ on }) => on === 'offer').map(spell);
  const offers = `$.catalogs[*].offers[?${ofOffer.join(' && ')}]`;
  if (ofResource.length === 0) return ofOffer.length === 0 ? undefined : offers;
  const all = ofOffer.length === 0 ? ofResource : [...ofResource, offers];
  return `$.catalogs[*].resources[?${all.join(' && ')}]`;
}

/** The API's name of a type is its context, `#` and its name. */
function spellType(type: string): string[] {
  if (type === '') return [];
  const at = type.lastIndexOf('#');
  const name = `@.resourceAttributes['@type'] == ${JSON.stringify(type.slice(at + 1))}`;
  return at === -1
    ? [name]
    : [`@.resourceAttributes['@context'] == ${JSON.stringify(type.slice(0, at))}`, name];
}

/** Only a path to one value can be compared; below an array, the comparison goes into a separate filter. */
function spell({ path, operator, value }: Condition): string {
  const at = path.lastIndexOf('[*]');
  if (at === -1) return `${path} ${operator} ${JSON.stringify(value)}`;
  return `${path.slice(0, at)}[?@${path.slice(at + 3)} ${operator} ${JSON.stringify(value)}]`;
}
