import L from 'leaflet';

/** Streets from a PMTiles file of vector tiles (MAP_TILES), fetched in ranges from the console itself. Loaded only where there is one. */
export async function addTiles(map: L.Map, url: string, isDark: boolean): Promise<void> {
  // The layer extends classes of a Leaflet that it expects under this global name.
  Object.assign(globalThis, { L });
  const { leafletLayer } = await import('protomaps-leaflet');
  leafletLayer({ url, flavor: isDark ? 'dark' : 'light', lang: 'en', pane: 'city' }).addTo(map);
}
