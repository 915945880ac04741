import { useEffect, useRef, useState } from 'preact/hooks';
import { spellCount, spellMeters } from '../../ui/time.tsx';
import { ResultDetails } from './result-details.tsx';
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
