import type { MultiLineString, MultiPolygon, Position } from 'geojson';

/** Rings across the date line would be drawn as bars, because longitudes jump there. So longitudes exceed 180, and rings are drawn twice. */
export function splitPolygons({ coordinates }: MultiPolygon): MultiPolygon {
  return { type: 'MultiPolygon', coordinates: coordinates.flatMap((rings) => twice(rings.map(unwrapRing))) };
}

export function splitLines({ coordinates }: MultiLineString): MultiLineString {
  return {
    type: 'MultiLineString',
    coordinates: coordinates.flatMap((line) => twice([unwrap(line)])).flat(),
  };
}

function unwrap(line: readonly Position[]): Position[] {
  let turn = 0;
  let last = line[0]?.[0] ?? 0;
  return line.map(([longitude = 0, latitude = 0]) => {
    if (longitude - last > 180) turn -= 360;
    else if (longitude - last < -180) turn += 360;
    last = longitude;
    return [longitude + turn, latitude];
  });
}

/** A ring around a pole does not return to its start: it is closed along the pole, outside the visible map. */
function unwrapRing(ring: readonly Position[]): Position[] {
  const line = unwrap(ring);
  const [first, last] = [line[0], line.at(-1)];
  if (!first || !last || Math.abs((first[0] ?? 0) - (last[0] ?? 0)) < 180) return line;
  const pole = (first[1] ?? 0) < 0 ? -89 : 89;
  return [...line, [last[0] ?? 0, pole], [first[0] ?? 0, pole], first];
}

function twice(lines: Position[][]): Position[][][] {
  const longitudes = lines.flat().map(([longitude = 0]) => longitude);
  const [west, east] = longitudes.reduce(
    ([least, most], one) => [Math.min(least, one), Math.max(most, one)],
    [0, 0],
  );
  const shifted = (by: number) =>
    lines.map((line) => line.map(([longitude = 0, latitude = 0]) => [longitude + by, latitude]));
  return [lines, ...(east > 180 ? [shifted(-360)] : []), ...(west < -180 ? [shifted(360)] : [])];
}
