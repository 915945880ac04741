import type { Geometry, Position } from '../../../src/protocol/geojson.ts';

// Geometries as well-known text (OGC 06-103r4 section 7), which fits on one line of a table.

export function wkt(text: string): Geometry {
  const type = types.find((name) => text.toUpperCase().startsWith(name.toUpperCase()));
  if (!type) throw new Error(`no geometry: ${text}`);
  const body = text.slice(type.length).trim().slice(1, -1);
  if (type === 'GeometryCollection') return { type, geometries: membersOf(body).map(wkt) };
  // Each point of a MULTIPOINT may have separate parentheses.
  const coordinates = nested(type === 'MultiPoint' ? body.replace(/[()]/g, '') : body);
  return { type, coordinates: type === 'Point' ? (coordinates as Position[])[0] : coordinates } as Geometry;
}

const types = [
  'GeometryCollection',
  'MultiLineString',
  'MultiPolygon',
  'MultiPoint',
  'LineString',
  'Polygon',
  'Point',
] as const;

function nested(body: string): unknown[] {
  return membersOf(body).map((member) =>
    member.startsWith('(') ? nested(member.slice(1, -1)) : member.split(/\s+/).map(Number),
  );
}

/** The parts between the commas that are not inside parentheses. */
function membersOf(body: string): string[] {
  let depth = 0;
  const members = [''];
  for (const character of body) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (character === ',' && depth === 0) members.push('');
    else members[members.length - 1] += character;
  }
  return members.map((member) => member.trim());
}
