import L from 'leaflet';
import { render } from 'preact';
import { hrefTo } from '../../router.ts';
import { type Found, spellPrice, valuesAt } from './results.ts';

/** Opens the popup of a result beside its point on the map; returns what closes it. `onClose`: somebody else has closed it. */
export function openPopup(
  map: L.Map,
  found: Found,
  { mayPan, onClose }: { mayPan: boolean; onClose(): void },
): () => void {
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
