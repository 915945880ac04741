import type { Address } from '../../protocol/catalog.ts';
import type { Geometry } from '../../protocol/geojson.ts';

// Where a station is, from whatever the source calls the parts of it.

export function findPoint(latitude: number | undefined, longitude: number | undefined): Geometry | undefined {
  if (latitude === undefined || Math.abs(latitude) > 90) return undefined;
  if (longitude === undefined || Math.abs(longitude) > 180) return undefined;
  return { type: 'Point', coordinates: [longitude, latitude] };
}

/** An address of the parts that are known; none where none is. */
export function findAddress(parts: {
  street?: string;
  city?: string;
  region?: string;
  postalCode?: string;
  country?: string;
}): Address | undefined {
  const members = {
    streetAddress: parts.street,
    addressLocality: parts.city,
    addressRegion: parts.region,
    postalCode: parts.postalCode,
    addressCountry: parts.country,
  };
  const known = Object.entries(members).filter(([, text]) => text !== undefined);
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}
