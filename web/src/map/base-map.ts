import { feature, mesh } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import atlasUrl from 'world-atlas/countries-110m.json?url';
import 'leaflet/dist/leaflet.css';
import './map.css';
import L from 'leaflet';
import { isDark } from '../theme.ts';
import { addCity } from './city.ts';
import { splitLines, splitPolygons } from './date-line.ts';
import { addGraticule } from './graticule.ts';
import { watchRemoval } from './watch-removal.ts';

export interface View {
  center: [number, number];
  zoom: number;
}

/** A map that loads nothing from other hosts: outlines of Natural Earth, a graticule, a scale, and the streets of the demo city as we drew them. */
export function createBaseMap(element: HTMLElement, { center, zoom }: View, tiles?: string): L.Map {
  const map = L.map(element, {
    center,
    zoom,
    minZoom: 2,
    maxZoom: 17,
    worldCopyJump: true,
    zoomControl: false,
    attributionControl: false,
    zoomSnap: 0.5,
  });
  for (const [name, zIndex] of panes) map.createPane(name).style.zIndex = zIndex;
  L.control.zoom({ position: 'topright' }).addTo(map);
  L.control
    .attribution({ prefix: false, position: 'bottomright' })
    .addAttribution('Natural Earth')
    .addTo(map);
  L.control.scale({ position: 'bottomright', imperial: false }).addTo(map);
  void addOutlines(map);
  addGraticule(map);
  if (tiles === undefined) void addCity(map);
  else
    void addTiles(map, tiles, (reason) =>
      showProblem(map, `The map of MAP_TILES cannot be shown: ${reason}.`),
    );
  return map;
}

/** The first one; more would say the same of other tiles. */
function showProblem(map: L.Map, text: string): void {
  if (map.getContainer().querySelector('.map-problem')) return;
  const control = new L.Control({ position: 'bottomleft' });
  control.onAdd = () => {
    const element = L.DomUtil.create('p', 'map-problem');
    element.setAttribute('role', 'alert');
    element.textContent = text;
    return element;
  };
  control.addTo(map);
}

const panes = [
  ['land', '210'],
  ['graticule', '220'],
  ['city', '230'],
  ['degrees', '240'],
] as const;

async function addOutlines(map: L.Map): Promise<void> {
  const isRemoved = watchRemoval(map);
  const answer = await fetch(atlasUrl).catch(() => undefined);
  if (!answer?.ok) return;
  const atlas = (await answer.json()) as Topology<{
    countries: GeometryCollection;
    land: GeometryCollection;
  }>;
  if (isRemoved()) return;
  const { countries, land } = atlas.objects;
  const still = { interactive: false, pane: 'land' } as const;
  for (const { geometry } of feature(atlas, land).features) {
    if (geometry.type !== 'MultiPolygon') continue;
    L.geoJSON(splitPolygons(geometry), { ...still, style: { className: 'land' } }).addTo(map);
  }
  const borders = mesh(atlas, countries, (one, other) => one !== other);
  L.geoJSON(splitLines(borders), { ...still, style: { className: 'border' } }).addTo(map);
}

/** Six decimals are a decimetre; more would only make links long. */
export function round(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6;
}

/** PMTiles numbers the kinds of tiles. */
const vectorTiles = 1;

/** Streets from a PMTiles file of vector tiles (MAP_TILES), fetched in ranges from the console itself. `onProblem`: why the file, or a tile of it, cannot be read. */
async function addTiles(map: L.Map, url: string, onProblem: (reason: string) => void): Promise<void> {
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
