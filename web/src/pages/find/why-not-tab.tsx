import { useState } from 'preact/hooks';
import type { WhyAnswer } from '../../../../src/console/answers/find.ts';
import { post } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { hrefTo } from '../../router.ts';
import type { FindBody } from '../../search/intent.ts';
import { Icon } from '../../ui/icon.tsx';
import { QueryBar } from '../../ui/query-bar.tsx';
import { Show } from '../../ui/states.tsx';

const titles: Record<string, string> = {
  indexed: 'Is in the index',
  served: 'Is served now',
  network: 'Is in the network',
  schema: 'Has the schema',
  validity: 'Is valid now',
  filter: 'Passes the filters',
  spatial: 'Lies in the area',
  text: 'Has the words',
  limit: 'Is on this page',
};

export function WhyNotTab({ body }: { body: FindBody }) {
  const [asked, setAsked] = useState('');
  const key = asked === '' ? undefined : `${asked} ${JSON.stringify(body)}`;
  const question = { ...body, resource: { id: asked } };
  const answer = useLoad(key, (signal) => post<WhyAnswer>('/api/find/why', question, signal), ['catalog']);
  return (
    <div class="stack">
      <QueryBar
        label="Id of the resource"
        placeholder="Id of the missing resource"
        button="Ask why"
        value={asked}
        submit={setAsked}
      />
      {asked === '' ? (
        <p class="soft small">
          Enter a resource that should be among the results of this search. The page shows each check that
          discover makes for it, in order.
        </p>
      ) : (
        <Show of={answer} what="reasons">
          {(data) => <Reasons answer={data} id={asked} />}
        </Show>
      )}
    </div>
  );
}

function Reasons({ answer, id }: { answer: WhyAnswer; id: string }) {
  return (
    <div class="stack" role="status">
      <p class={answer.found ? 'verdict good' : 'verdict bad'}>
        <Icon name={answer.found ? 'check' : 'cross'} /> {answer.conclusion}
      </p>
      {answer.nextStep && (
        <p>
          <strong>Next step:</strong> {answer.nextStep}
        </p>
      )}
      <ul class="checks">
        {answer.checks.map(({ check, ok, detail, got }) => (
          <li key={check} class={ok ? 'good' : 'bad'}>
            <Icon name={ok ? 'check' : 'cross'} />
            <span>
              <strong>{titles[check] ?? check}</strong> <span class="hidden">{ok ? 'yes' : 'no'}</span>
              <span class="soft small"> {detail}</span>
              {hasContent(got) && (
                <code class="block">{typeof got === 'string' ? got : JSON.stringify(got)}</code>
              )}
            </span>
          </li>
        ))}
      </ul>
      <p>
        <a href={hrefTo('inspect', { q: id })}>Inspect {id}</a>
      </p>
    </div>
  );
}

function hasContent(value: unknown): boolean {
  return (
    value !== undefined && !(typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  );
}
