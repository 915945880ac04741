import type { FieldsAnswer } from '../../../../src/console/answers/find.ts';
import type { Loaded } from '../../api/load.ts';
import { session } from '../../api/session.ts';
import { navigate } from '../../router.ts';
import { isEmpty } from '../../search/query.ts';
import { Choice } from '../../ui/choice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { AreaFields } from './area-fields.tsx';
import { changeQuery } from './change-query.ts';
import { FilterFields } from './filter-fields.tsx';
import type { DrawProps } from './find-map.tsx';

export function FindForm({ fields, ...area }: DrawProps & { fields: Loaded<FieldsAnswer> }) {
  const { query } = area;
  const narrowed =
    query.conditions.length + (query.expression.trim() === '' ? 0 : 1) + (query.type === '' ? 0 : 1);
  const networks = session.value?.networks ?? [];
  return (
    // biome-ignore lint/a11y/useSemanticElements: <search> has no form of its own
    <form class="find-form" role="search" onSubmit={(event) => event.preventDefault()}>
      <label class="search-field">
        <span class="hidden">What to look for</span>
        <Icon name="search" />
        <input
          type="search"
          name="text"
          placeholder="What are you looking for?"
          autocomplete="off"
          value={query.text}
          onInput={(event) => changeQuery(query, { text: event.currentTarget.value })}
        />
      </label>
      <AreaFields {...area} />
      <details class="find-filters" open={narrowed > 0}>
        <summary>Filters {narrowed > 0 && <span class="count">{narrowed}</span>}</summary>
        {networks.length > 1 && (
          <Choice
            class="field"
            label="Network"
            all="All networks"
            value={query.network}
            options={networks}
            choose={(network) => changeQuery(query, { network })}
          />
        )}
        <FilterFields query={query} fields={fields} />
        {!isEmpty(query) && (
          <button type="button" class="link" onClick={() => navigate('find')}>
            Clear everything
          </button>
        )}
      </details>
    </form>
  );
}
