import L from 'leaflet';
import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { FindAnswer } from '../../../../src/console/answers/find.ts';
import { session } from '../../api/session.ts';
import type { Area } from '../../map/area.ts';
import { createBaseMap } from '../../map/base-map.ts';
import { Clusters, type MapPoint } from '../../map/clusters.ts';
import { AreaDrawing } from '../../map/draw.ts';
import { viewOfBrowser } from '../../map/time-zone.ts';
import { hrefTo } from '../../router.ts';
import type { FindQuery } from '../../search/query.ts';
import { changeQuery } from './change-query.ts';
import { type ChooseProps, type Found, spellPrice, valuesAt } from './results.ts';

export type Drawing = Area['kind'];

interface MapParts {
  map: L.Map;
  clusters: Clusters;
  drawing: AreaDrawing;
  shapes: L.GeoJSON;
}

export interface DrawProps {
  query: FindQuery;
  drawing?: Drawing;
  draw(drawing: Drawing | undefined): void;
}

type Props = DrawProps & ChooseProps & { answer?: FindAnswer };

export function FindMap({ query, answer, found, chosen, choose, drawing, draw }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const parts = useRef<MapParts | undefined>(undefined);
  // The map outlives a render: its listeners call the functions of the latest one.
  const latest = useRef({ query, choose, draw });
  latest.current = { query, choose, draw };
  const known = session.value !== undefined;

  useEffect(() => {
    if (!element.current || !known) return;
    const { demoCity, mapTiles } = session.value ?? {};
    const map = createBaseMap(element.current, demoCity ?? viewOfBrowser(), mapTiles);
    const shapes = L.geoJSON(undefined, { style: { className: 'area' }, interactive: false }).addTo(map);
    const clusters = new Clusters(map, (key) => latest.current.choose(key));
    parts.current = { map, clusters, drawing: new AreaDrawing(map), shapes };
    const watch = new ResizeObserver(() => map.invalidateSize());
    watch.observe(element.current);
    return () => {
      watch.disconnect();
      map.remove();
      parts.current = undefined;
    };
  }, [known]);

  // With `known`, draws the points again after the map was created.
  useEffect(() => parts.current?.clusters.show(found.flatMap(pointsOf)), [found, known]);

  // Only the first answer to a query moves the view: a live update must not move the user's view.
  const moved = useRef<{ query: FindQuery; answer: FindAnswer } | undefined>(undefined);
  useEffect(() => {
    const isNew = moved.current?.query !== query && moved.current?.answer !== answer;
    if (!parts.current || !answer || !isNew) return;
    moved.current = { query, answer };
    parts.current.clusters.bringIntoView(found.flatMap(pointsOf));
  }, [query, answer, found, known]);

  const areaKey = JSON.stringify(query.area);
  // Compares the area by its JSON, because readQuery makes a new object for each address.
  useEffect(() => {
    parts.current?.drawing.show(query.area);
    if (query.area) parts.current?.drawing.fit(query.area);
  }, [areaKey, known]);

  useEffect(() => {
    if (!parts.current) return;
    if (!drawing) return parts.current.drawing.cancel();
    parts.current.drawing.draw(drawing, (area) => {
      latest.current.draw(undefined);
      const { query } = latest.current;
      if (area) changeQuery(query, { area });
      else parts.current?.drawing.show(query.area);
    });
  }, [drawing]);

  const shown = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (!parts.current) return;
    const one = found.find(({ key }) => key === chosen);
    showChosen(parts.current, one);
    // A live update must not move the map.
    const mayPan = shown.current !== chosen;
    shown.current = chosen;
    const onClose = () => latest.current.choose(undefined);
    return one && openPopup(parts.current.map, one, { mayPan, onClose });
  }, [chosen, found]);

  return (
    <section class="find-map" aria-label="Map">
      <div
        class="map"
        ref={element}
        role="application"
        aria-label="Map of the results. Arrow keys move it, plus and minus zoom."
      />
    </section>
  );
}

function showChosen(parts: MapParts, found: Found | undefined): void {
  parts.clusters.choose(found?.key);
  parts.shapes.clearLayers();
  for (const shape of found?.shapes ?? []) parts.shapes.addData(shape);
  const [place] = found?.places ?? [];
  if (place && !parts.map.getBounds().contains([place.latitude, place.longitude]))
    parts.map.panTo([place.latitude, place.longitude]);
}

function pointsOf({ key, name, places, prices: [price] }: Found): MapPoint[] {
  const title = price ? `${name}, ${spellPrice(price)}` : name;
  return places.map((place) => ({ id: key, name: title, ...place }));
}

/** Opens the popup of a result at its point on the map; returns a function that closes it. `onClose`: it was closed otherwise. */
function openPopup(map: L.Map, found: Found, { mayPan, onClose }: { mayPan: boolean; onClose(): void }) {
  const [place] = found.places;
  if (!place) return () => {};
  const element = document.createElement('div');
  render(<ResultPopup found={found} />, element);
  const popup = L.popup({ autoPan: mayPan, closeOnClick: false, maxWidth: 260, offset: [0, -4] })
    .setLatLng([place.latitude, place.longitude])
    .setContent(element)
    .openOn(map)
    .on('remove', onClose);
  return () => {
    popup.off('remove', onClose).remove();
  };
}

function ResultPopup({ found: { name, resource, prices } }: { found: Found }) {
  const [status] = valuesAt(resource, '$.resourceAttributes.attributes.availability.status');
  const [price] = prices;
  return (
    <section class="result-popup" aria-label={`On the map: ${name}`}>
      <p class="result-name">{name}</p>
      <p>{price ? spellPrice(price) : 'Price not known'}</p>
      {typeof status === 'string' && <p>{status.toLowerCase().replace('outof', 'out of ')}</p>}
      <a href={hrefTo('inspect', { q: resource.id })}>
        Details<span class="hidden"> of {name}</span>
      </a>
    </section>
  );
}
