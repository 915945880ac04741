import { useState } from 'preact/hooks';
import { useLoad } from '../../api/load.ts';
import { Changes } from '../../ui/changes.tsx';
import { Show } from '../../ui/states.tsx';
import { readDifference } from './api.ts';

/** What is indexed beside what is live now. The node is asked for it, so only on demand. */
export function DifferencePanel({ node, catalogId }: { node: string; catalogId: string }) {
  const [asked, setAsked] = useState<string>();
  const key = asked === catalogId ? `difference ${node} ${catalogId}` : undefined;
  const answer = useLoad(key, (signal) => readDifference(node, catalogId, signal), ['crawl']);
  if (key === undefined) {
    return (
      <p>
        <button type="button" onClick={() => setAsked(catalogId)}>
          Compare what is indexed with what is live now
        </button>
      </p>
    );
  }
  return (
    <Show of={answer} what="difference">
      {({ indexed, live, changes, truncated }) => (
        <div class="stack">
          <h3>
            {catalogId}: indexed {indexed ?? '–'}, live {live ?? '–'}
          </h3>
          <Changes changes={changes} truncated={truncated} />
        </div>
      )}
    </Show>
  );
}
