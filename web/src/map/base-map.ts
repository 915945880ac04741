import { feature, mesh } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import atlasUrl from 'world-atlas/countries-110m.json?url';
import 'leaflet/dist/leaflet.css';
import './map.css';
import L from 'leaflet';
import { isDark } from '../theme.ts';
import { addCity } from './city.ts';
import { splitLines, splitPolygons } from './date-line.ts';
import { watchRemoval } from './watch-removal.ts';

const wantedLines = 7;

export interface View {
  center: [number, number];
  zoom: number;
}

/** A map that loads nothing from other hosts: outlines of Natural Earth, a graticule, a scale, and our drawing of the demo city's streets. */
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

/** Shows only the first problem; those of other tiles are usually the same. */
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

/** Six decimals are a decimetre; more would only lengthen links. */
export function round(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6;
}

/** The number of this tile type in PMTiles. */
const vectorTiles = 1;

/** Streets from a PMTiles file of vector tiles (MAP_TILES), fetched in ranges from the console. `onProblem` gets the reason of a read error. */
async function addTiles(map: L.Map, url: string, onProblem: (reason: string) => void): Promise<void> {
  const isRemoved = watchRemoval(map);
  // The layer extends classes of Leaflet, which it expects under this global name.
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

const spacings = [30, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005];

function addGraticule(map: L.Map): void {
  const lines = L.layerGroup().addTo(map);
  const draw = () => {
    lines.clearLayers();
    for (const line of linesIn(map)) lines.addLayer(line);
  };
  map.on('moveend', draw);
  draw();
}

/** Labels would overlap in the lower left corner, and with the scale at the lower right. */
const cornerPixels = { left: 60, right: 110, bottom: 36 };

function linesIn(map: L.Map): L.Layer[] {
  const bounds = map.getBounds();
  const { x: width, y: height } = map.getSize();
  const [west, east] = [Math.max(-180, bounds.getWest()), Math.min(180, bounds.getEast())];
  const [south, north] = [Math.max(-85, bounds.getSouth()), Math.min(85, bounds.getNorth())];
  const spacing = spacings.findLast((degrees) => (east - west) / degrees <= wantedLines) ?? 30;
  const meridians = multiples(west, east, spacing).flatMap((lng) => {
    const { x } = map.latLngToContainerPoint([south, lng]);
    const isFree = x >= cornerPixels.left && x <= width - cornerPixels.right;
    const label = labelAt([south, lng], spell(lng, 'E', 'W'), 'south');
    return [lineOf([south, lng], [north, lng]), ...(isFree ? [label] : [])];
  });
  const parallels = multiples(south, north, spacing).flatMap((lat) => {
    const isFree = map.latLngToContainerPoint([lat, west]).y <= height - cornerPixels.bottom;
    const label = labelAt([lat, west], spell(lat, 'N', 'S'), 'west');
    return [lineOf([lat, west], [lat, east]), ...(isFree ? [label] : [])];
  });
  return [...meridians, ...parallels];
}

function multiples(from: number, to: number, spacing: number): number[] {
  const first = Math.ceil(from / spacing);
  const count = Math.floor(to / spacing) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, index) => (first + index) * spacing);
}

function lineOf(from: [number, number], to: [number, number]): L.Polyline {
  return L.polyline([from, to], { className: 'graticule', interactive: false, pane: 'graticule' });
}

function labelAt(place: [number, number], text: string, side: 'south' | 'west'): L.Marker {
  const icon = L.divIcon({ className: `degrees ${side}`, html: text, iconSize: undefined });
  return L.marker(place, { icon, interactive: false, keyboard: false, pane: 'degrees' });
}

function spell(degrees: number, positive: string, negative: string): string {
  const text = String(Math.round(Math.abs(degrees) * 1_000) / 1_000);
  return `${text}°${degrees > 0 ? positive : degrees < 0 ? negative : ''}`;
}
