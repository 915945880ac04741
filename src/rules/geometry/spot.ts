// Exact predicates for places in the plane of longitude and latitude: with floating-point numbers if these are safe, otherwise with integers of any
// length. A rounded answer could put a point on an edge to either side of it.

export interface Spot {
  /** Degrees, rounded: for a vertex `lon + 360 * turn`. Continues past 180 where a line crosses the date line. */
  readonly x: number;
  readonly y: number;
  /** Longitude of a vertex, from -180 to just below 180. NaN for a computed place. */
  readonly lon: number;
  /** How many turns round the world a vertex is from its longitude. */
  readonly turn: number;
  /** The same place without rounding, computed on demand. */
  readonly makeExact: (() => Exact) | undefined;
  exact: Exact | undefined;
}

/** Integers x, y over the common denominator w > 0, in units of 2^-100 degrees. */
interface Exact {
  x: bigint;
  y: bigint;
  w: bigint;
}

/** A vertex from given coordinates, shifted by some turns. */
export function vertexAt(longitude: number, latitude: number, turns = 0): Spot {
  const ownTurns = Math.floor((longitude + 180) / 360);
  return vertex(longitude - 360 * ownTurns, ownTurns + turns, latitude);
}

function vertex(lon: number, turn: number, lat: number): Spot {
  return { x: lon + 360 * turn, y: lat, lon, turn, makeExact: undefined, exact: undefined };
}

/** The same place of the world, shifted by some turns. */
export function moved(spot: Spot, turns: number): Spot {
  if (turns === 0) return spot;
  if (!Number.isNaN(spot.lon)) return vertex(spot.lon, spot.turn + turns, spot.y);
  return computed(spot.x + 360 * turns, spot.y, () => {
    const { x, y, w } = exactly(spot);
    return { x: x + BigInt(turns) * fullTurn * w, y, w };
  });
}

/** Above 0 if p is to the left of the way from a to b, 0 if it is on the line through them. */
export function orient(a: Spot, b: Spot, p: Spot): number {
  const abX = b.x - a.x;
  const abY = b.y - a.y;
  const apX = p.x - a.x;
  const apY = p.y - a.y;
  const left = abX * apY;
  const right = abY * apX;
  const reach = Math.abs(abX) + Math.abs(abY) + Math.abs(apX) + Math.abs(apY);
  const doubt = coordinateError * reach + productError * (Math.abs(left) + Math.abs(right));
  const determinant = left - right;
  if (determinant > doubt || determinant < -doubt) return determinant;
  if (isSameVertex(p, a) || isSameVertex(p, b)) return 0;
  return orientExactly(exactly(a), exactly(b), exactly(p));
}

export function isSameVertex(p: Spot, q: Spot): boolean {
  return p.lon === q.lon && p.y === q.y && p.turn === q.turn;
}

export function compareX(p: Spot, q: Spot): number {
  if (!Number.isNaN(p.lon) && !Number.isNaN(q.lon)) return p.turn - q.turn || p.lon - q.lon;
  const difference = p.x - q.x;
  if (Math.abs(difference) > closeTogether) return difference;
  return sign(exactly(p).x * exactly(q).w - exactly(q).x * exactly(p).w);
}

export function compareY(p: Spot, q: Spot): number {
  const difference = p.y - q.y;
  if (Math.abs(difference) > closeTogether) return difference;
  if (!Number.isNaN(p.lon) && !Number.isNaN(q.lon)) return difference;
  return sign(exactly(p).y * exactly(q).w - exactly(q).y * exactly(p).w);
}

/** The intersection of the lines through a, b and through c, d, which must not be parallel. */
export function crossing(a: Spot, b: Spot, c: Spot, d: Spot): Spot {
  const abX = b.x - a.x;
  const abY = b.y - a.y;
  const cdX = d.x - c.x;
  const cdY = d.y - c.y;
  const denominator = abX * cdY - abY * cdX;
  const share = ((c.x - a.x) * cdY - (c.y - a.y) * cdX) / denominator;
  const length = Math.abs(abX) + Math.abs(abY);
  const place = (): Exact => positive(cross(cross(exactly(a), exactly(b)), cross(exactly(c), exactly(d))));
  if (Math.abs(denominator) > steepEnough * length * (length + Math.abs(cdX) + Math.abs(cdY))) {
    return computed(a.x + share * abX, a.y + share * abY, place);
  }
  // Rounding moves the crossing of nearly parallel lines.
  const exact = place();
  const scale = Number(exact.w) * unit;
  return computed(Number(exact.x) / scale, Number(exact.y) / scale, () => exact);
}

export function midpoint(p: Spot, q: Spot): Spot {
  return computed((p.x + q.x) / 2, (p.y + q.y) / 2, () => halfway(exactly(p), exactly(q)));
}

function computed(x: number, y: number, makeExact: () => Exact): Spot {
  return { x, y, lon: Number.NaN, turn: 0, makeExact, exact: undefined };
}

function exactly(spot: Spot): Exact {
  spot.exact ??= spot.makeExact?.() ?? {
    x: integer(spot.lon) + BigInt(spot.turn) * fullTurn,
    y: integer(spot.y),
    w: 1n,
  };
  return spot.exact;
}

function halfway(a: Exact, b: Exact): Exact {
  return { x: a.x * b.w + b.x * a.w, y: a.y * b.w + b.y * a.w, w: 2n * a.w * b.w };
}

function positive({ x, y, w }: Exact): Exact {
  return w < 0n ? { x: -x, y: -y, w: -w } : { x, y, w };
}

/** A number of degrees is a multiple of the unit, unless it is so near 0 that the lost digits do not matter. */
function integer(degrees: number): bigint {
  return BigInt(Math.round(degrees * unit));
}

function orientExactly(a: Exact, b: Exact, p: Exact): number {
  const line = cross(a, b);
  return sign(line.x * p.x + line.y * p.y + line.w * p.w);
}

function cross(a: Exact, b: Exact): Exact {
  return { x: a.y * b.w - a.w * b.y, y: a.w * b.x - a.x * b.w, w: a.x * b.y - a.y * b.x };
}

function sign(value: bigint): number {
  return value > 0n ? 1 : value < 0n ? -1 : 0;
}

const unit = 2 ** 100;
const fullTurn = 360n << 100n;

/** Above the rounding errors of a coordinate (10^-13 degrees), of a product, and between two ways to compute one place. */
const coordinateError = 1e-12;
const productError = 1e-15;
const closeTogether = 1e-9;
/** Degrees; more than the rounding error of a coordinate. */
export const margin = closeTogether;
/** Minimum slope between two edges at which rounding moves their crossing by less than that. */
const steepEnough = 0.01;
