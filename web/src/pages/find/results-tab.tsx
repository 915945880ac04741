import { useState } from 'preact/hooks';
import type { FindAnswer, NearMiss } from '../../../../src/console/answers/find.ts';
import type { Loaded } from '../../api/load.ts';
import { hrefTo } from '../../router.ts';
import { pageSize } from '../../search/intent.ts';
import { type FindQuery, isEmpty, toParams } from '../../search/query.ts';
import { copy } from '../../ui/code.tsx';
import { FirstSteps } from '../../ui/first-steps.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Show } from '../../ui/states.tsx';
import { spellCount, spellMs } from '../../ui/time.tsx';
import { changeQuery } from './change-query.ts';
import { ResultList } from './result-list.tsx';
import { type ChooseProps, type Sorting, sortFound, sortings } from './results.ts';

type Props = ChooseProps & { query: FindQuery; answer: Loaded<FindAnswer> };

export function ResultsTab({ query, answer, found, chosen, choose }: Props) {
  const [sorting, setSorting] = useState<Sorting>('relevance');
  const possible = sortings.filter((by) => by !== 'distance' || query.area?.kind === 'circle');
  const address = hrefTo('find', toParams(query));
  const by = possible.includes(sorting) ? sorting : 'relevance';
  return (
    <Show of={answer} what="results">
      {(data) => (
        <>
          <div class="spread result-head">
            <p role="status" class="small">
              {spellTotal(data, found.length)} <span class="soft">in {spellMs(data.explain.ms)}</span>
            </p>
            <label class="sorting small">
              <span class="hidden">Sort by</span>
              <select value={by} onChange={(event) => setSorting(event.currentTarget.value as Sorting)}>
                {possible.map((name) => (
                  <option key={name} value={name}>
                    by {name}
                  </option>
                ))}
              </select>
            </label>
            <button
              type="button"
              class="link small"
              onClick={() => void copy(new URL(address, location.href).href, 'a link to this search')}
            >
              <Icon name="link" /> Copy link
            </button>
          </div>
          {found.length === 0 && isEmpty(query) ? (
            <FirstSteps />
          ) : found.length === 0 ? (
            <NothingFound query={query} nearMisses={data.nearMisses} />
          ) : (
            <>
              {by !== 'relevance' && found.length < data.total && (
                <p class="soft small">
                  Only the {spellCount(found.length)} results on this page are sorted by {by}.
                </p>
              )}
              <ResultList key={address} found={sortFound(found, by)} chosen={chosen} choose={choose} />
            </>
          )}
          <Pager query={query} answer={data} />
        </>
      )}
    </Show>
  );
}

function spellTotal({ total, orMore, resourceCount }: FindAnswer, shown: number): string {
  const all = Math.max(total ?? 0, resourceCount ?? 0);
  const hidden = resourceCount - shown;
  const dropped = hidden > 0 ? `, ${spellCount(hidden)} of them without a matching offer` : '';
  return `${spellCount(all)}${orMore ? ' or more' : ''} ${all === 1 ? 'result' : 'results'}${dropped}`;
}

function Pager({ query, answer }: { query: FindQuery; answer: FindAnswer }) {
  const { offset } = query;
  const end = offset + answer.resourceCount;
  const hasNext = end < answer.total || (answer.orMore && answer.resourceCount >= pageSize);
  if (offset === 0 && !hasNext) return null;
  return (
    <nav class="row pager" aria-label="Pages of results">
      <button
        type="button"
        class="small"
        disabled={offset === 0}
        onClick={() => changeQuery(query, { offset: Math.max(0, offset - pageSize) })}
      >
        Previous
      </button>
      <span class="soft small">
        {spellCount(offset + 1)} to {spellCount(end)}
      </span>
      <button
        type="button"
        class="small"
        disabled={!hasNext}
        onClick={() => changeQuery(query, { offset: end })}
      >
        Next
      </button>
    </nav>
  );
}

function NothingFound({ query, nearMisses }: { query: FindQuery; nearMisses: readonly NearMiss[] }) {
  const isFiltered = query.conditions.length > 0 || query.type !== '' || query.expression !== '';
  const without: { label: string; change: Partial<FindQuery>; applies: boolean }[] = [
    { label: 'without the words', change: { text: '' }, applies: query.text.trim() !== '' },
    { label: 'anywhere', change: { area: undefined }, applies: query.area !== undefined },
    { label: 'without filters', change: { conditions: [], type: '', expression: '' }, applies: isFiltered },
    { label: 'in all networks', change: { network: '' }, applies: query.network !== '' },
  ];
  return (
    <div class="state empty">
      <p class="state-title">Nothing matches.</p>
      {nearMisses.length > 0 && (
        <ul class="stack near-misses">
          {nearMisses.map((miss) => (
            <li key={`${miss.code} ${miss.path} ${miss.message}`}>
              <Icon name="warning" /> {miss.message}
              {miss.path && (
                <>
                  {' '}
                  <code>{miss.path}</code>
                </>
              )}
              {miss.suggestion && (
                <p>
                  Did you mean <code>{miss.suggestion}</code>?
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
      <p class="row">
        <span class="soft">Search again</span>
        {without
          .filter(({ applies }) => applies)
          .map(({ label, change }) => (
            <button key={label} type="button" class="small" onClick={() => changeQuery(query, change)}>
              {label}
            </button>
          ))}
      </p>
    </div>
  );
}
