import type { Inspection } from '../../../../src/console/answers/inspect.ts';
import { useGet } from '../../api/load.ts';
import { navigate, param } from '../../router.ts';
import { QueryBar } from '../../ui/query-bar.tsx';
import { Empty, Show } from '../../ui/states.tsx';
import { Report } from './report.tsx';
import { Suggestions } from './suggestions.tsx';
import './inspect.css';

/** For a provider: is it discoverable, and if not, which link of the chain is broken? */
export default function InspectPage() {
  const q = param('q');
  const network = param('network');
  const path = q === '' ? undefined : '/api/inspect';
  const answer = useGet<Inspection>(path, { q, network }, ['catalog', 'crawl', 'delivery']);
  return (
    <>
      <header class="page-head">
        <h1>Inspect</h1>
        <p>Is a node, a catalog or a resource discoverable, and if not, where does the chain break?</p>
      </header>
      <div class="stack">
        <QueryBar
          label="Node, catalog, resource or address"
          placeholder="Node, catalog or resource"
          button="Inspect"
          value={q}
          submit={(text) => navigate('inspect', { q: text, network })}
        />
        {q === '' ? (
          <Suggestions />
        ) : (
          <Show of={answer} what="inspection">
            {(data) =>
              data.kind === 'unknown' ? (
                <Empty title={`Nobody here knows “${q}”.`}>
                  {data.because ?? 'No node, catalog or resource of this network has this name.'}{' '}
                  {data.nextStep}
                </Empty>
              ) : (
                <Report key={q} q={q} answer={data} reload={answer.reload} />
              )
            }
          </Show>
        )}
      </div>
    </>
  );
}
