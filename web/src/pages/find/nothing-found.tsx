import type { NearMiss } from '../../../../src/console/answers/find.ts';
import type { FindQuery } from '../../search/query.ts';
import { Icon } from '../../ui/icon.tsx';
import { changeQuery } from './change-query.ts';

export function NothingFound({ query, nearMisses }: { query: FindQuery; nearMisses: readonly NearMiss[] }) {
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
        <span class="soft">Look again</span>
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
