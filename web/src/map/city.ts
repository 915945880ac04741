import type { Feature, FeatureCollection } from 'geojson';
import L from 'leaflet';
import cityUrl from '../demo-city.json?url';
import { watchRemoval } from './watch-removal.ts';

type Kind = 'city' | 'park' | 'lake' | 'river' | 'road' | 'railway';

/** Below this zoom the city is smaller than its roads are wide. */
const minZoom = 8;
/** Zoom from which the names of lakes and parks fit. */
const nameZoom = 12.5;
const order: readonly Kind[] = ['city', 'park', 'lake', 'river', 'road', 'railway'];
/** Width of a line in pixels at zoom 12. */
const widths: Partial<Record<Kind, number>> = { river: 3, railway: 1.2 };
const roadWidths: Record<string, number> = { ring: 3.4, main: 2.4 };

/** Water, parks and main roads of the demo city, drawn approximately by us, so that the map is never empty. */
export async function addCity(map: L.Map): Promise<void> {
  const isRemoved = watchRemoval(map);
  const answer = await fetch(cityUrl).catch(() => undefined);
  if (!answer?.ok) return;
  const { features } = (await answer.json()) as FeatureCollection;
  if (isRemoved()) return;
  const lines = L.layerGroup();
  const names = L.layerGroup(features.filter(hasName).map(nameOf));
  const update = () => {
    lines.clearLayers();
    for (const layer of drawAll(features, 2 ** ((map.getZoom() - 12) * 0.7))) lines.addLayer(layer);
    toggle(map, lines, map.getZoom() >= minZoom);
    toggle(map, names, map.getZoom() >= nameZoom);
  };
  map.on('zoomend', update);
  update();
}

/** Draws roads twice: all edges first, so that roads join where they cross. */
function drawAll(features: readonly Feature[], factor: number): L.Layer[] {
  return order.flatMap((kind) => {
    const same = features.filter(({ properties }) => properties?.kind === kind);
    const width = (feature: Feature | undefined) =>
      Math.max(0.5, factor * (roadWidths[String(feature?.properties?.rank)] ?? widths[kind] ?? 0));
    if (kind !== 'road') return [drawLines(same, kind, width)];
    return [drawLines(same, 'edge', (feature) => width(feature) + 1.6), drawLines(same, 'road', width)];
  });
}

function drawLines(
  features: Feature[],
  name: string,
  weight: (feature: Feature | undefined) => number,
): L.GeoJSON {
  return L.geoJSON(features, {
    interactive: false,
    pane: 'city',
    style: (feature) => ({ className: `city-${name}`, weight: weight(feature) }),
  });
}

function toggle(map: L.Map, layer: L.Layer, shown: boolean): void {
  if (shown) layer.addTo(map);
  else layer.remove();
}

function hasName({ properties }: Feature): boolean {
  return (properties?.kind === 'lake' || properties?.kind === 'park') && typeof properties.name === 'string';
}

function nameOf(feature: Feature): L.Layer {
  const center = L.geoJSON(feature).getBounds().getCenter();
  const icon = L.divIcon({ className: 'city-name', html: String(feature.properties?.name) });
  return L.marker(center, { icon, interactive: false, keyboard: false, pane: 'city' });
}
