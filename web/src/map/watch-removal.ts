import type L from 'leaflet';

/** Whether a map was removed meanwhile, for example because the user left the page during a fetch: nothing can be added to it then. */
export function watchRemoval(map: L.Map): () => boolean {
  let isRemoved = false;
  map.once('unload', () => {
    isRemoved = true;
  });
  return () => isRemoved;
}
