import L from 'leaflet';
import { isDark } from '../theme.ts';
import { watchRemoval } from './watch-removal.ts';

/** PMTiles numbers the kinds of tiles. */
const vectorTiles = 1;

/**
 * Streets from a PMTiles file of vector tiles (MAP_TILES), fetched in ranges from the console itself. Loaded only where there is one.
 *
 * @param onProblem told why the file, or a tile of it, cannot be read
 */
export async function addTiles(map: L.Map, url: string, onProblem: (reason: string) => void): Promise<void> {
  const isRemoved = watchRemoval(map);
  // The layer extends classes of a Leaflet that it expects under this global name.
  Object.assign(globalThis, { L });
  const { leafletLayer, PmtilesSource } = await import('protomaps-leaflet');
  const { p: archive } = new PmtilesSource(url, true);
  const header = await archive.getHeader().catch(({ message }: Error) => {
    if (!isRemoved()) onProblem(message);
  });
  if (!header || isRemoved()) return;
  if (header.tileType !== vectorTiles) return onProblem('its tiles are pictures, not vector tiles');
  const readTile = archive.getZxy.bind(archive);
  archive.getZxy = async (...place) => {
    const tile = readTile(...place);
    tile.catch(({ name }: Error) => {
      if (name !== 'AbortError' && !isRemoved())
        onProblem('a tile of it cannot be read, so it may not be complete');
    });
    return tile;
  };
  let layer: L.Layer | undefined;
  const forget = isDark.subscribe((dark) => {
    layer?.remove();
    const look = { flavor: dark ? 'dark' : 'light', lang: 'en', pane: 'city' };
    layer = leafletLayer({ url: archive, maxDataZoom: header.maxZoom, ...look }).addTo(map);
  });
  map.once('unload', forget);
}
