export type Area =
  | { kind: 'circle'; latitude: number; longitude: number; meters: number }
  | { kind: 'polygon'; corners: readonly [number, number][] };
