import type { SpatialConstraint } from '../../protocol/discover-messages.ts';
import type { Geometry } from '../../protocol/geojson.ts';
import { type SphereBox, sphereBox } from '../../rules/geometry/sphere-box.ts';
import type { Search } from '../candidates.ts';
import { runInThread } from '../deadline.ts';

// The geometry of a query may have tens of thousands of parts. Then everything that looks at all of them runs in threads. They get it as text: to copy it as an object would block the main thread
// for as long as to parse it.

/** More characters of a geometry are left to a thread. */
const maxInlineText = 5_000;

/** Undefined for a geometry that is small enough to be looked at in the main thread. */
export function findLargeText(constraint: SpatialConstraint): string | undefined {
  const text = texts.get(constraint) ?? JSON.stringify(constraint.geometry);
  texts.set(constraint, text);
  return text.length > maxInlineText ? text : undefined;
}

/** The box around the geometry of a constraint. */
export function findBox(search: Search, constraint: SpatialConstraint): Promise<SphereBox> {
  const known = boxes.get(constraint);
  if (known) return known;
  const text = findLargeText(constraint);
  const box =
    text === undefined
      ? Promise.resolve(sphereBox(constraint.geometry))
      : runInThread<SphereBox>(search, 'spatialMs', {
          module: import.meta.url,
          name: boxOfText.name,
          input: text,
        });
  boxes.set(constraint, box);
  return box;
}

/** Runs in the thread. */
export function boxOfText(text: string): SphereBox {
  return sphereBox(JSON.parse(text) as Geometry);
}

/** A search asks for them several times. */
const texts = new WeakMap<SpatialConstraint, string>();
const boxes = new WeakMap<SpatialConstraint, Promise<SphereBox>>();
