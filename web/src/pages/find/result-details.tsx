import type { ComponentChildren } from 'preact';
import { hrefTo } from '../../router.ts';
import { Facts } from '../../ui/facts.tsx';
import { type Found, spellPrice } from './results.ts';

export function ResultDetails({ found }: { found: Found }) {
  const { resource, catalog, offers, prices } = found;
  return (
    <div class="result-details">
      {offers.length > 0 && (
        <>
          <h3>Offers</h3>
          <ul class="offers">
            {offers.map((offer) => (
              <li key={offer.id} class="spread">
                <span>
                  {offer.descriptor?.name ?? 'Offer'}
                  {offer.validity && <span class="soft small"> {spellValidity(offer.validity)}</span>}
                </span>
                <span class="price">
                  {prices
                    .filter((price) => price.offerId === offer.id)
                    .map(spellPrice)
                    .join(', ')}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>Attributes</h3>
      <Facts facts={leavesOf(resource.resourceAttributes)} />
      <h3>Origin</h3>
      <Facts
        facts={[
          ['Owner', catalog.bppId ? linkTo(catalog.bppId) : 'not said'],
          ['Catalog', linkTo(catalog.id, catalog.descriptor.name)],
          ['Resource', linkTo(resource.id, <code>{resource.id}</code>)],
        ]}
      />
    </div>
  );
}

function linkTo(id: string, name: ComponentChildren = id) {
  return <a href={hrefTo('inspect', { q: id })}>{name}</a>;
}

function spellValidity({ startDate, endDate, startTime, endTime }: Record<string, string>): string {
  const times = startTime || endTime ? `${spellTime(startTime)} to ${spellTime(endTime)}` : '';
  const dates = startDate || endDate ? `${startDate ?? '…'} to ${endDate ?? '…'}` : '';
  return [times, dates].filter(Boolean).join(', ');
}

function spellTime(time = '…'): string {
  return time.replace(/^(\d\d:\d\d):00/, '$1').replace(/Z$/, ' UTC');
}

/** Names and values of all levels. `{ value, unit }` is one value; geometries are omitted, because they are on the map. */
function leavesOf(value: unknown, name = ''): [string, string][] {
  if (value === null || typeof value !== 'object') return [[name, spellLeaf(value)]];
  const members = value as Record<string, unknown>;
  if ('coordinates' in members) return [];
  if ('value' in members && 'unit' in members)
    return [[name, `${String(members.value)} ${String(members.unit)}`]];
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object'))
    return [[name, value.join(', ')]];
  return Object.entries(members)
    .filter(([key]) => !key.startsWith('@'))
    .flatMap(([key, item]) =>
      leavesOf(item, key === 'attributes' ? name : [name, key].filter(Boolean).join(' › ')),
    );
}

function spellLeaf(value: unknown): string {
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
}
