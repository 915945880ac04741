import type L from 'leaflet';

/** Tells whether a map was removed since, as when the page is left while something is fetched for it: nothing can be added to it any more. */
export function watchRemoval(map: L.Map): () => boolean {
  let isRemoved = false;
  map.once('unload', () => {
    isRemoved = true;
  });
  return () => isRemoved;
}
