// Places, arcs of great circles and angles on the unit sphere. The formulas keep their precision for places close together or opposite each other, and for short arcs.

/** The mean radius of the earth, for all distances. */
export const earthRadiusMeters = 6_371_008.8;

export type Vector = readonly [x: number, y: number, z: number];

export function toVector(longitude: number, latitude: number): Vector {
  const width = cosine(latitude);
  return [width * cosine(longitude), width * sine(longitude), sine(latitude)];
}

/** Sine of degrees; exact at the poles and at every right angle. */
export function sine(degrees: number): number {
  const quarters = Math.round(degrees / 90);
  return sineOfQuarter(quarters, (degrees - 90 * quarters) * radiansPerDegree);
}

export function cosine(degrees: number): number {
  const quarters = Math.round(degrees / 90);
  return sineOfQuarter(quarters + 1, (degrees - 90 * quarters) * radiansPerDegree);
}

function sineOfQuarter(quarters: number, rest: number): number {
  const value = quarters % 2 === 0 ? Math.sin(rest) : Math.cos(rest);
  return Math.floor(quarters / 2) % 2 === 0 ? value : -value;
}

/** Radians. */
export function angleBetween(a: Vector, b: Vector): number {
  const x = a[0] + b[0];
  const y = a[1] + b[1];
  const z = a[2] + b[2];
  return 2 * Math.atan2(chord(a, b), Math.sqrt(x * x + y * y + z * z));
}

export function chord(a: Vector, b: Vector): number {
  const x = a[0] - b[0];
  const y = a[1] - b[1];
  const z = a[2] - b[2];
  return Math.sqrt(x * x + y * y + z * z);
}

/** Twice the cross product of a and b: points to the left of the way from a to b. */
export function leftOf(a: Vector, b: Vector): Vector {
  return cross([a[0] - b[0], a[1] - b[1], a[2] - b[2]], [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
}

/** Radians from a place to the nearest point of an arc shorter than a half circle. */
export function angleToArc(p: Vector, a: Vector, b: Vector): number {
  const left = leftOf(a, b);
  const from = chord(p, a) < chord(p, b) ? a : b;
  const isBeside = dot(cross(left, a), p) > 0 && dot(cross(b, left), p) > 0;
  if (!isBeside) return angleBetween(p, from);
  // The way to the left is at right angles to a and b: measured from the nearer one, little is lost to rounding.
  const height = left[0] * (p[0] - from[0]) + left[1] * (p[1] - from[1]) + left[2] * (p[2] - from[2]);
  const side = cross(left, p);
  return Math.atan2(Math.abs(height), Math.sqrt(dot(side, side)));
}

export function arcsCross(a: Vector, b: Vector, c: Vector, d: Vector): boolean {
  const ab = leftOf(a, b);
  const cd = leftOf(c, d);
  const [sideOfC, sideOfD, sideOfA, sideOfB] = [dot(ab, c), dot(ab, d), dot(cd, a), dot(cd, b)];
  // The great circles cross on both sides of the world; on this side if the turns agree.
  const seemToCross = sideOfC * sideOfD < 0 && sideOfA * sideOfB < 0 && sideOfC * sideOfA < 0;
  // Along one great circle, the sides are only rounding errors. But no place is on both of two separate arcs.
  const place = seemToCross && crossingNear(a, b, cross(ab, cd));
  return place && isOnArc(place, a, b) && isOnArc(place, c, d);
}

/** The place near an arc where two great circles cross; they cross in `direction` and opposite. */
function crossingNear(a: Vector, b: Vector, direction: Vector): Vector | false {
  const length = Math.sqrt(dot(direction, direction));
  if (length === 0) return false;
  const scale = (dot(direction, a) + dot(direction, b) < 0 ? -1 : 1) / length;
  return [direction[0] * scale, direction[1] * scale, direction[2] * scale];
}

/** Whether a place on the great circle of an arc, and on its side of the world, is on the arc. */
function isOnArc(place: Vector, a: Vector, b: Vector): boolean {
  const reach = chord(a, b) + rounding;
  return chord(place, a) <= reach && chord(place, b) <= reach;
}

export function dot(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

const radiansPerDegree = Math.PI / 180;
/** Radians; some thousandths of a millimetre. */
const rounding = 1e-12;
