import L from 'leaflet';
import type { Area } from './area.ts';
import { round } from './base-map.ts';

const style = { className: 'area', interactive: false } as const;

/** Draws an area with pointer or finger: a circle by dragging from its centre, a polygon corner by corner. */
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

  /** Ends with the area, or without one where Escape is pressed or another drawing begins. */
  draw(kind: Area['kind'], done: (area: Area | undefined) => void): void {
    this.cancel();
    this.#layer.clearLayers();
    const container = this.#map.getContainer();
    container.classList.add('drawing');
    this.#map.dragging.disable();
    this.#map.doubleClickZoom.disable();
    const end = (area: Area | undefined) => {
      this.#stop?.();
      done(area);
    };
    const release = kind === 'circle' ? this.#drawCircle(end) : this.#drawPolygon(end);
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && end(undefined);
    document.addEventListener('keydown', onKey);
    this.#stop = () => {
      this.#stop = undefined;
      release();
      document.removeEventListener('keydown', onKey);
      container.classList.remove('drawing');
      this.#map.dragging.enable();
      this.#map.doubleClickZoom.enable();
    };
  }

  cancel(): void {
    this.#stop?.();
  }

  #drawCircle(end: (area: Area | undefined) => void): () => void {
    const container = this.#map.getContainer();
    const circle = L.circle([0, 0], { ...style, radius: 1 });
    let center: L.LatLng | undefined;
    const down = (event: PointerEvent) => {
      if (isControl(event)) return;
      center = this.#map.mouseEventToLatLng(event);
      container.setPointerCapture(event.pointerId);
      circle.setLatLng(center).setRadius(1).addTo(this.#layer);
    };
    const move = (event: PointerEvent) => {
      if (center) circle.setRadius(Math.max(1, center.distanceTo(this.#map.mouseEventToLatLng(event))));
    };
    const up = () => {
      if (!center) return;
      const { lat, lng } = center;
      // A click without a drag means "around here".
      const meters = circle.getRadius() > minMeters ? circle.getRadius() : usualMeters;
      end({ kind: 'circle', latitude: round(lat), longitude: round(lng), meters: Math.round(meters) });
    };
    container.addEventListener('pointerdown', down);
    container.addEventListener('pointermove', move);
    container.addEventListener('pointerup', up);
    return () => {
      container.removeEventListener('pointerdown', down);
      container.removeEventListener('pointermove', move);
      container.removeEventListener('pointerup', up);
    };
  }

  #drawPolygon(end: (area: Area | undefined) => void): () => void {
    const corners: L.LatLng[] = [];
    const outline = L.polyline([], style).addTo(this.#layer);
    const close = () => {
      const places = corners.map(({ lat, lng }): [number, number] => [round(lat), round(lng)]);
      end(places.length >= 3 ? { kind: 'polygon', corners: places } : undefined);
    };
    const click = (event: L.LeafletMouseEvent) => {
      const [first] = corners;
      const closes =
        first && this.#map.latLngToContainerPoint(first).distanceTo(event.containerPoint) < closePixels;
      if (closes && corners.length >= 3) return close();
      const last = corners.at(-1);
      if (last && this.#map.latLngToContainerPoint(last).distanceTo(event.containerPoint) < 3) return;
      corners.push(event.latlng);
      outline.setLatLngs(corners);
      L.circleMarker(event.latlng, { className: 'corner', radius: 5, interactive: false }).addTo(this.#layer);
    };
    const move = (event: L.LeafletMouseEvent) =>
      corners.length > 0 && outline.setLatLngs([...corners, event.latlng]);
    const enter = (event: KeyboardEvent) => event.key === 'Enter' && close();
    this.#map.on('click', click).on('mousemove', move).on('dblclick', close);
    document.addEventListener('keydown', enter);
    return () => {
      this.#map.off('click', click).off('mousemove', move).off('dblclick', close);
      document.removeEventListener('keydown', enter);
    };
  }
}

function isControl(event: Event): boolean {
  return event.target instanceof Element && event.target.closest('.leaflet-control') !== null;
}

const minMeters = 20;
export const usualMeters = 3_000;
const closePixels = 12;
