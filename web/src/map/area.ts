/** The area of a search, drawn on the map. */
export type Area =
  | { kind: 'circle'; latitude: number; longitude: number; meters: number }
  | { kind: 'polygon'; corners: readonly [number, number][] };
