import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { hrefTo } from '../../router.ts';
import { Facts } from '../../ui/facts.tsx';
import { spellCount, spellMeters, spellValue } from '../../ui/time.tsx';
import { type ChooseProps, type Found, spellPrice } from './results.ts';
import './results.css';

const resultsAtOnce = 30;

/** The first results, and a button for more. A result chosen on the map is always shown, wherever it is in the list. */
export function ResultList({ found, chosen, choose }: ChooseProps) {
  const [limit, setLimit] = useState(resultsAtOnce);
  const list = useRef<HTMLOListElement>(null);
  const firstNew = useRef<number | undefined>(undefined);
  const shown = Math.min(found.length, Math.max(limit, found.findIndex(({ key }) => key === chosen) + 1));
  // Moves the focus to the first new result: keyboard users continue there, and screen readers read it.
  useEffect(() => {
    if (firstNew.current === undefined) return;
    list.current?.children[firstNew.current]?.querySelector('button')?.focus();
    firstNew.current = undefined;
  }, [shown]);
  const showMore = () => {
    firstNew.current = shown;
    setLimit(shown + resultsAtOnce);
  };
  return (
    <>
      <ol class="results" aria-label="Results" ref={list}>
        {found.slice(0, shown).map((one) => (
          <Result key={one.key} found={one} open={one.key === chosen} choose={choose} />
        ))}
      </ol>
      {shown < found.length && (
        <p class="more-results">
          <span class="soft small" role="status">
            {spellCount(shown)} of {spellCount(found.length)} are shown
          </span>
          <button type="button" onClick={showMore}>
            Show {spellCount(Math.min(resultsAtOnce, found.length - shown))} more
          </button>
        </p>
      )}
    </>
  );
}

type ResultProps = Pick<ChooseProps, 'choose'> & { found: Found; open: boolean };

function Result({ found, open, choose }: ResultProps) {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (open) item.current?.scrollIntoView({ block: 'nearest' });
  }, [open]);
  const { resource, catalog, prices, meters } = found;
  const [lowest, ...others] = prices;
  return (
    <li ref={item} class={open ? 'result open' : 'result'}>
      <button
        type="button"
        class="result-button"
        aria-expanded={open}
        onClick={() => choose(open ? undefined : found.key)}
      >
        <span class="result-main">
          <span class="result-name">{found.name}</span>
          <span class="soft small">
            {[resource.descriptor?.shortDesc, catalog.provider.descriptor.name].filter(Boolean).join(' · ')}
          </span>
        </span>
        <span class="result-end">
          {lowest && (
            <span class="price">
              {others.length > 0 && <span class="soft small">from </span>}
              {spellPrice(lowest)}
            </span>
          )}
          {meters !== undefined && <span class="soft small">{spellMeters(meters)}</span>}
        </span>
      </button>
      {open && <ResultDetails found={found} />}
    </li>
  );
}

function ResultDetails({ found }: { found: Found }) {
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
          ['Owner', catalog.bppId ? linkTo(catalog.bppId) : 'not known'],
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
  if (value === null || typeof value !== 'object') return [[name, spellValue(value)]];
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
