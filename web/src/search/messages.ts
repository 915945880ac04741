// The messages of discover, as far as the page builds and reads them.

export interface FindBody {
  networkId?: string;
  message: DiscoverMessage;
}

export interface DiscoverMessage {
  intent: {
    textSearch?: string;
    filters?: { type: 'jsonpath'; expression: string };
    spatial?: SpatialEntry[];
  };
  limit?: number;
  offset?: number;
}

export interface SpatialEntry {
  op: string;
  targets: string[];
  geometry: { type: string; coordinates: unknown };
  distanceMeters?: number;
}
