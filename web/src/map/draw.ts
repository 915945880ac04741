import L from 'leaflet';
import type { Area } from './area.ts';
import { round } from './base-map.ts';

const style = { className: 'area', interactive: false } as const;

/** Draws an area with pointer, finger or keys: a circle from its centre, a polygon by corners. Arrows move the map, Space sets points. */
export class AreaDrawing {
  readonly #map: L.Map;
  readonly #layer: L.LayerGroup;
  #stop: (() => void) | undefined;

  constructor(map: L.Map) {
    this.#map = map;
    this.#layer = L.layerGroup().addTo(map);
  }

  show(area: Area | undefined): void {
    this.#layer.clearLayers();
    if (area?.kind === 'circle') {
      L.circle([area.latitude, area.longitude], { ...style, radius: area.meters }).addTo(this.#layer);
    } else if (area) {
      L.polygon(area.corners as [number, number][], style).addTo(this.#layer);
    }
  }

  fit(area: Area): void {
    const bounds =
      area.kind === 'circle'
        ? L.latLng(area.latitude, area.longitude).toBounds(2 * area.meters)
        : L.latLngBounds(area.corners as [number, number][]);
    this.#map.fitBounds(bounds, { padding: [24, 24], maxZoom: 15 });
  }

  /** Ends with the area, or without one if Escape is pressed or another drawing starts. */
  draw(kind: Area['kind'], done: (area: Area | undefined) => void): void {
    this.cancel();
    this.#layer.clearLayers();
    const map = this.#map;
    const container = map.getContainer();
    const focused = document.activeElement;
    const end = (area: Area | undefined) => {
      this.#stop?.();
      done(area);
    };
    const sketch =
      kind === 'circle' ? sketchCircle(map, this.#layer, end) : sketchPolygon(map, this.#layer, end);
    const releasePointer = kind === 'circle' ? dragOn(map, sketch) : clickOn(map, sketch);
    const releaseKeys = pressKeysOn(map, sketch, end);
    container.classList.add('drawing');
    container.focus({ preventScroll: true });
    map.dragging.disable();
    map.doubleClickZoom.disable();
    this.#stop = () => {
      this.#stop = undefined;
      releasePointer();
      releaseKeys();
      container.classList.remove('drawing');
      map.dragging.enable();
      map.doubleClickZoom.enable();
      const isHere = container.contains(document.activeElement);
      if (isHere && focused instanceof HTMLElement) focused.focus({ preventScroll: true });
    };
  }

  cancel(): void {
    this.#stop?.();
  }
}

interface Sketch {
  point(place: L.LatLng): void;
  preview(place: L.LatLng): void;
  finish(): void;
}

function sketchCircle(map: L.Map, layer: L.LayerGroup, end: (area: Area) => void): Sketch {
  const circle = L.circle(map.getCenter(), { ...style, radius: 1 });
  return {
    point: (center) => circle.setLatLng(center).setRadius(1).addTo(layer),
    preview: (edge) => circle.setRadius(Math.max(1, circle.getLatLng().distanceTo(edge))),
    finish() {
      const { lat, lng } = layer.hasLayer(circle) ? circle.getLatLng() : map.getCenter();
      // A centre without a radius means "around here".
      const meters = circle.getRadius() > minMeters ? circle.getRadius() : usualMeters;
      end({ kind: 'circle', latitude: round(lat), longitude: round(lng), meters: Math.round(meters) });
    },
  };
}

function sketchPolygon(map: L.Map, layer: L.LayerGroup, end: (area?: Area) => void): Sketch {
  const corners: L.LatLng[] = [];
  const outline = L.polyline([], style).addTo(layer);
  const pixels = (one: L.LatLng, other: L.LatLng) =>
    map.latLngToContainerPoint(one).distanceTo(map.latLngToContainerPoint(other));
  const finish = () => {
    const places = corners.map(({ lat, lng }): [number, number] => [round(lat), round(lng)]);
    end(places.length >= 3 ? { kind: 'polygon', corners: places } : undefined);
  };
  return {
    point(corner) {
      const [first, last] = [corners[0], corners.at(-1)];
      if (first && corners.length >= 3 && pixels(first, corner) < closePixels) return finish();
      if (last && pixels(last, corner) < samePixels) return;
      corners.push(corner);
      outline.setLatLngs(corners);
      L.circleMarker(corner, { className: 'corner', radius: 5, interactive: false }).addTo(layer);
    },
    preview: (corner) => corners.length > 0 && outline.setLatLngs([...corners, corner]),
    finish,
  };
}

function dragOn(map: L.Map, sketch: Sketch): () => void {
  const container = map.getContainer();
  let isDown = false;
  const down = (event: PointerEvent) => {
    if (isControl(event)) return;
    isDown = true;
    container.setPointerCapture(event.pointerId);
    sketch.point(map.mouseEventToLatLng(event));
  };
  const move = (event: PointerEvent) => isDown && sketch.preview(map.mouseEventToLatLng(event));
  const up = () => isDown && sketch.finish();
  const stop = new AbortController();
  const { signal } = stop;
  container.addEventListener('pointerdown', down, { signal });
  container.addEventListener('pointermove', move, { signal });
  container.addEventListener('pointerup', up, { signal });
  return () => stop.abort();
}

function clickOn(map: L.Map, sketch: Sketch): () => void {
  const click = ({ latlng }: L.LeafletMouseEvent) => sketch.point(latlng);
  const move = ({ latlng }: L.LeafletMouseEvent) => sketch.preview(latlng);
  const close = () => sketch.finish();
  map.on('click', click).on('mousemove', move).on('dblclick', close);
  return () => {
    map.off('click', click).off('mousemove', move).off('dblclick', close);
  };
}

/** Leaflet moves the map by arrow keys while it has the focus; Space sets a point in its middle, Enter completes the area. */
function pressKeysOn(map: L.Map, sketch: Sketch, end: (area: undefined) => void): () => void {
  const container = map.getContainer();
  let isByKeys = false;
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return end(undefined);
    if (event.target !== container || (event.key !== ' ' && event.key !== 'Enter')) return;
    event.preventDefault();
    if (event.key === 'Enter') return sketch.finish();
    isByKeys = true;
    sketch.point(map.getCenter());
  };
  const follow = () => isByKeys && sketch.preview(map.getCenter());
  document.addEventListener('keydown', press);
  map.on('move', follow);
  return () => {
    document.removeEventListener('keydown', press);
    map.off('move', follow);
  };
}

function isControl(event: Event): boolean {
  return event.target instanceof Element && event.target.closest('.leaflet-control') !== null;
}

const minMeters = 20;
export const usualMeters = 3_000;
const closePixels = 12;
const samePixels = 3;
