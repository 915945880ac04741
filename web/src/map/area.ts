/** What a search is limited to, as it is drawn. */
export type Area =
  | { kind: 'circle'; latitude: number; longitude: number; meters: number }
  | { kind: 'polygon'; corners: readonly [number, number][] };
