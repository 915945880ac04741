import L from 'leaflet';

const spacings = [30, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005];
const wantedLines = 7;

export function addGraticule(map: L.Map): void {
  const lines = L.layerGroup().addTo(map);
  const draw = () => {
    lines.clearLayers();
    for (const line of linesIn(map)) lines.addLayer(line);
  };
  map.on('moveend', draw);
  draw();
}

/** Labels would stand on each other in the corner at the lower left, and under the scale at the lower right. */
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
