import L from 'leaflet';
import Supercluster, { type ClusterProperties } from 'supercluster';

export interface MapPoint {
  id: string;
  name: string;
  latitude: number;
  longitude: number;
}

type Properties = { id: string; name: string };

export class Clusters {
  readonly #map: L.Map;
  readonly #choose: (id: string) => void;
  readonly #layer: L.LayerGroup;
  #index = newIndex();
  #chosen: string | undefined;

  constructor(map: L.Map, choose: (id: string) => void) {
    this.#map = map;
    this.#choose = choose;
    this.#layer = L.layerGroup().addTo(map);
    map.on('moveend', () => this.#draw());
  }

  show(points: readonly MapPoint[]): void {
    this.#index = newIndex();
    this.#index.load(
      points.map(({ id, name, latitude, longitude }) => ({
        type: 'Feature',
        properties: { id, name },
        geometry: { type: 'Point', coordinates: [longitude, latitude] },
      })),
    );
    this.#draw();
  }

  bringIntoView(points: readonly MapPoint[]): void {
    const places = points.map(({ latitude, longitude }) => L.latLng(latitude, longitude));
    if (places.length === 0 || places.some((place) => this.#map.getBounds().contains(place))) return;
    this.#map.fitBounds(L.latLngBounds(places), { padding: [40, 40], maxZoom: 13 });
  }

  choose(id: string | undefined): void {
    this.#chosen = id;
    this.#draw();
  }

  #draw(): void {
    const bounds = this.#map.getBounds().pad(0.1);
    const box: [number, number, number, number] = [
      Math.max(-180, bounds.getWest()),
      Math.max(-85, bounds.getSouth()),
      Math.min(180, bounds.getEast()),
      Math.min(85, bounds.getNorth()),
    ];
    this.#layer.clearLayers();
    for (const { geometry, properties } of this.#index.getClusters(box, Math.round(this.#map.getZoom()))) {
      const [lng = 0, lat = 0] = geometry.coordinates;
      const marker =
        'cluster_id' in properties
          ? this.#drawCluster(properties, [lat, lng])
          : this.#drawPoint(properties, [lat, lng]);
      this.#layer.addLayer(marker);
    }
  }

  #drawCluster({ cluster_id: id, point_count: count }: ClusterProperties, place: [number, number]): L.Marker {
    const holds =
      this.#chosen !== undefined &&
      this.#index
        .getLeaves(id, Number.POSITIVE_INFINITY)
        .some(({ properties }) => properties.id === this.#chosen);
    const size = Math.round(26 + 5 * Math.log2(count));
    const icon = L.divIcon({
      className: holds ? 'cluster chosen' : 'cluster',
      html: String(count),
      iconSize: [size, size],
    });
    // The list of results beside the map is for keyboards, so Tab skips the points.
    const marker = L.marker(place, { icon, keyboard: false, title: `${count} results` });
    return marker.on('click', () => {
      const same = this.#onlyPlace(id);
      if (same !== undefined) return this.#choose(same);
      const zoom = Math.min(this.#map.getMaxZoom(), this.#index.getClusterExpansionZoom(id));
      this.#map.setView(place, Math.max(zoom, this.#map.getZoom() + 1));
    });
  }

  /** The first of the points if all are at the same place, because no zoom would separate them. */
  #onlyPlace(cluster: number): string | undefined {
    const leaves = this.#index.getLeaves(cluster, Number.POSITIVE_INFINITY);
    const places = new Set(leaves.map(({ geometry }) => geometry.coordinates.join()));
    return places.size === 1 ? leaves[0]?.properties.id : undefined;
  }

  #drawPoint({ id, name }: Properties, place: [number, number]): L.Marker {
    const icon = L.divIcon({ className: id === this.#chosen ? 'point chosen' : 'point', iconSize: [16, 16] });
    const marker = L.marker(place, {
      icon,
      keyboard: false,
      title: name,
      zIndexOffset: id === this.#chosen ? 1_000 : 0,
    });
    return marker.on('click', () => this.#choose(id));
  }
}

function newIndex(): Supercluster<Properties> {
  return new Supercluster<Properties>({ radius: 44, maxZoom: 16 });
}
