import type { SphereBox } from '../../rules/geometry/sphere-box.ts';

// A grid over the unit sphere, for the cache of geometries (cache/geometry-cache.ts): a search looks into the few cells that its bounding box touches, and the next search nearby into the same.
// Wider searches look into larger cells.

export interface Cell {
  name: string;
  box: SphereBox;
}

/** 600 km on the earth: wider searches find too much to be cached. */
const maxWidth = 0.1;
/** 1.5 km. */
const leastSize = 2 ** -12;
/** Far more than the rounding of a coordinate. */
const rounding = 1e-9;

/** The cells that a box touches, up to five in each direction, as far as some of the earth's surface is in them; undefined for a wide box. */
export function cellsOf({ low, high }: SphereBox): Cell[] | undefined {
  const width = Math.max(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
  if (width > maxWidth) return undefined;
  const size = Math.max(leastSize, 2 ** Math.floor(Math.log2(width / 2)));
  const cells: Cell[] = [];
  const first = (axis: 0 | 1 | 2) => Math.floor(low[axis] / size);
  for (let x = first(0); x * size <= high[0]; x++)
    for (let y = first(1); y * size <= high[1]; y++)
      for (let z = first(2); z * size <= high[2]; z++) {
        const box = boxAt(x, y, z, size);
        if (hasSurface(box)) cells.push({ name: `${size} ${x} ${y} ${z}`, box });
      }
  return cells;
}

function boxAt(x: number, y: number, z: number, size: number): SphereBox {
  return { low: [x * size, y * size, z * size], high: [(x + 1) * size, (y + 1) * size, (z + 1) * size] };
}

function hasSurface({ low, high }: SphereBox): boolean {
  let [nearest, farthest] = [0, 0];
  for (const axis of [0, 1, 2] as const) {
    nearest += Math.max(0, low[axis], -high[axis]) ** 2;
    farthest += Math.max(-low[axis], high[axis]) ** 2;
  }
  return nearest <= 1 + rounding && farthest >= 1 - rounding;
}
