import { useEffect, useMemo, useState } from 'preact/hooks';
import type { FieldsAnswer, FindAnswer } from '../../../../src/console/answers/find.ts';
import { post } from '../../api/client.ts';
import { type Loaded, useGet, useLoad, waitForPause } from '../../api/load.ts';
import { session } from '../../api/session.ts';
import { navigate, route } from '../../router.ts';
import { buildRequest } from '../../search/intent.ts';
import { isEmpty, readQuery } from '../../search/query.ts';
import { Tabs } from '../../ui/tabs.tsx';
import { Examples } from './examples.tsx';
import { ExplainTab } from './explain-tab.tsx';
import { type Drawing, type DrawProps, FindMap } from './find-map.tsx';
import { RequestTab } from './request-tab.tsx';
import { listFound } from './results.ts';
import { ResultsTab } from './results-tab.tsx';
import { WhyNotTab } from './why-not-tab.tsx';
import './find.css';
import { Choice } from '../../ui/choice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { AreaFields } from './area-fields.tsx';
import { changeQuery } from './change-query.ts';
import { FilterFields } from './filter-fields.tsx';

const tabs = [
  { name: 'results', label: 'Results' },
  { name: 'explain', label: 'Explain' },
  { name: 'request', label: 'Request' },
  { name: 'why', label: 'Why not…?' },
] as const;
/** Shorter than the pause between two words: answers to partial words appear while typing. */
const typingPauseMs = 100;

/** A consumer's search: the form becomes an intent, which is evaluated on the index. No message is sent. */
export default function FindPage() {
  const { params } = route.value;
  const query = useMemo(() => readQuery(params), [params]);
  const body = useMemo(() => buildRequest(query), [query]);
  const answer = useLoad(
    JSON.stringify(body),
    (signal) => waitForPause(signal, typingPauseMs).then(() => post<FindAnswer>('/api/find', body, signal)),
    ['catalog'],
  );
  const fields = useGet<FieldsAnswer>('/api/schemas/fields', { network: query.network }, ['catalog']);
  const found = useMemo(() => (answer.data ? listFound(answer.data, query) : []), [answer.data, query]);
  const [tab, setTab] = useState<(typeof tabs)[number]['name']>('results');
  const [chosen, setChosen] = useState<string>();
  const [drawing, setDrawing] = useState<Drawing>();
  // The chosen result belongs to the previous query.
  useEffect(() => setChosen(undefined), [body]);
  const choosing = {
    found,
    chosen,
    choose(key: string | undefined) {
      setChosen(key);
      setTab('results');
    },
  };
  const area = { query, drawing, draw: setDrawing };
  return (
    <div class="find">
      <section class="find-side" aria-label="Search">
        <h1 class="hidden">Find</h1>
        <FindForm {...area} fields={fields} />
        {isEmpty(query) && <Examples fields={fields.data} city={session.value?.demoCity} />}
        <Tabs label="What was found, and why" tabs={tabs} chosen={tab} choose={setTab}>
          {tab === 'results' && <ResultsTab {...choosing} query={query} answer={answer} />}
          {tab === 'explain' && <ExplainTab answer={answer} />}
          {tab === 'request' && <RequestTab query={query} request={answer.data?.request ?? body} />}
          {tab === 'why' && <WhyNotTab body={body} />}
        </Tabs>
      </section>
      <FindMap {...area} {...choosing} answer={answer.data} />
    </div>
  );
}

function FindForm({ fields, ...area }: DrawProps & { fields: Loaded<FieldsAnswer> }) {
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
