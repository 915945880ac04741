import type { Geometry } from '../../protocol/geojson.ts';
import type { Json } from '../../protocol/json.ts';

/** The intended geometry if latitude was written before longitude. It may be invalid: no latitude is beyond 90. */
export function swapPositions(geometry: Geometry): unknown {
  if (geometry.type === 'GeometryCollection') {
    return { ...geometry, geometries: geometry.geometries.map(swapPositions) };
  }
  return { ...geometry, coordinates: swap(geometry.coordinates as Json) };
}

function swap(value: Json): Json {
  if (!Array.isArray(value)) return value;
  const [first, second, ...rest] = value;
  return typeof first === 'number' ? [second as Json, first, ...rest] : value.map(swap);
}
