import { useState } from 'preact/hooks';
import type { Difference, InspectedCatalog } from '../../../../src/console/answers/inspect.ts';
import { useGet } from '../../api/load.ts';
import { Changes } from '../../ui/changes.tsx';
import { Show } from '../../ui/states.tsx';

/** The indexed catalog beside its signed files, or beside the document of the catalog service. The files are fetched for it, so only on demand. */
export function DifferencePanel({ node, catalog }: { node: string; catalog: InspectedCatalog }) {
  const { catalogId, source, liveVersion } = catalog;
  const [asked, setAsked] = useState<string>();
  const path = asked === catalogId ? '/api/inspect/difference' : undefined;
  const answer = useGet<Difference>(path, { node, catalogId }, ['crawl', 'catalog']);
  if (source === 'service' && liveVersion === undefined)
    return (
      <p class="soft small">
        {catalogId} is stored by another catalog service, so its document cannot be compared from here.
      </p>
    );
  const live = source === 'service' ? 'what the catalog service stores' : 'what is live now';
  if (path === undefined) {
    return (
      <p>
        <button type="button" onClick={() => setAsked(catalogId)}>
          Compare what is indexed with {live}
        </button>
      </p>
    );
  }
  return (
    <Show of={answer} what="difference">
      {({ indexed, live: version, changes, truncated }) => (
        <div class="stack">
          <h3>
            {catalogId}: indexed {spellVersion(indexed)}, {source === 'service' ? 'stored' : 'live'}{' '}
            {spellVersion(version)}
          </h3>
          <Changes changes={changes} truncated={truncated} />
        </div>
      )}
    </Show>
  );
}

function spellVersion(version: number | null): string {
  return version === null ? '–' : `version ${version}`;
}
