import { useEffect, useMemo, useState } from 'preact/hooks';
import type { FieldsAnswer, FindAnswer } from '../../../../src/console/answers/find.ts';
import { post } from '../../api/client.ts';
import { useGet, useLoad, waitForPause } from '../../api/load.ts';
import { session } from '../../api/session.ts';
import { route } from '../../router.ts';
import { buildRequest } from '../../search/intent.ts';
import { isEmpty, readQuery } from '../../search/query.ts';
import { Tabs } from '../../ui/tabs.tsx';
import { Examples } from './examples.tsx';
import { ExplainTab } from './explain-tab.tsx';
import { FindForm } from './find-form.tsx';
import { type Drawing, FindMap } from './find-map.tsx';
import { RequestTab } from './request-tab.tsx';
import { listFound } from './results.ts';
import { ResultsTab } from './results-tab.tsx';
import { WhyNotTab } from './why-not-tab.tsx';
import './find.css';

const tabs = [
  { name: 'results', label: 'Results' },
  { name: 'explain', label: 'Explain' },
  { name: 'request', label: 'Request' },
  { name: 'why', label: 'Why not…?' },
] as const;
/** Shorter than the pause between two words: the answer to half a word comes while it is typed. */
const typingPauseMs = 100;
type TabName = (typeof tabs)[number]['name'];

/** A consumer's search: the form becomes an intent, which is evaluated on the index. Nothing is sent. */
export default function FindPage() {
  const { params } = route.value;
  const query = useMemo(() => readQuery(params), [params]);
  const body = useMemo(() => buildRequest(query), [query]);
  const answer = useLoad(
    JSON.stringify(body),
    (signal) => waitForPause(signal, typingPauseMs).then(() => post<FindAnswer>('/api/find', body, signal)),
    ['catalog'],
  );
  const { network } = query;
  const fields = useGet<FieldsAnswer>('/api/schemas/fields', { network }, ['catalog']);
  const found = useMemo(() => (answer.data ? listFound(answer.data, query) : []), [answer.data, query]);
  const [tab, setTab] = useState<TabName>('results');
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
